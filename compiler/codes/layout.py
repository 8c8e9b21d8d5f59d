"""Devices and how work is divided over them."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0361": Code(
        said("layout does not match the devices", "并行布局与设备数不符"),
        said(
            "data x tensor x pipeline x context must be exactly device.count: every device has one place in the layout.\n\n"
            "mindformers does not say so. In data-parallel mode it resets every degree to 1 and trains each rank on its own; in "
            "semi-automatic mode every rank dies after launch, when the data is built and the queue has been waited for.\n\n"
            "Example: a recipe that is often copied sets data 2, tensor 2, pipeline 2 for four cards. 2 x 2 x 2 = 8.\n\n"
            "Change one factor, or write `parallel: auto`: the planner takes the lightest layout that fits. `mindspec plan NAME "
            "--layouts` lists them all.",
            "data x tensor x pipeline x context 必须恰好等于 device.count：每个设备在布局中占一个位置。\n\n"
            "mindformers 不会提示：在数据并行模式下，它把所有并行度重置为 1，各进程各自训练；"
            "在半自动并行模式下，数据已就绪、排队也结束之后，所有进程才在启动后报错退出。\n\n"
            "例如一份广为流传的配方在四卡上写 data 2、tensor 2、pipeline 2，而 2 x 2 x 2 = 8。\n\n"
            "请修改其中一个因子，或写 `parallel: auto`：规划器会选取能容纳的最轻布局。`mindspec plan NAME --layouts` 列出全部布局。",
        ),
    ),
    "MS0362": Code(
        said("several devices are not started", "不启动多设备"),
        said(
            "This version plans for any number of devices and compiles the mindformers files for them, but a stage is one process: "
            "nothing starts the other ranks.\n\n"
            "`mindspec check` and `compile` warn. `mindspec run`, a sweep and the stage itself refuse before any work, since a single "
            "rank would wait for the others, or train on its part of each batch and save it as the result.\n\n"
            "Set device.count to 1 to run here; `mindspec plan` needs no device at all.",
            "本版本可为任意数量的设备做规划，并编译出相应的 mindformers 文件，但一个阶段只是一个进程：没有人启动其余进程。\n\n"
            "`mindspec check` 与 `compile` 只警告；`mindspec run`、扫描以及阶段本身会在开始之前拒绝，"
            "因为单个进程要么一直等待其他进程，要么只用每批数据中自己的一份训练，并把它当作结果保存。\n\n"
            "若要在此运行，请把 device.count 设为 1；`mindspec plan` 不需要任何设备。",
        ),
        plannable=True,
    ),
    "MS0363": Code(
        said("pipeline does not fit", "流水线不合法"),
        said(
            "A pipeline cuts the layers into equal stages and passes micro batches through them. It needs as many layers in each stage, "
            "at least one micro batch a stage, and no other accumulation.\n\n"
            "Effective batch = micro_batch x accumulation x data; in a pipeline parallel.micro_batches takes the place of "
            "accumulation, which mindformers resets to 1 there, as it resets micro_batches to 1 where there is no pipeline. Either "
            "would train with another effective batch than the one written.\n\n"
            "Example: {pipeline: 4, micro_batches: 2} leaves two stages without work; {pipeline: 4, micro_batches: 16} is idle for "
            "3 / 19 = 16 % of the time.",
            "流水线把各层均分为若干阶段，并让微批依次通过。每个阶段的层数须相同，微批数不少于阶段数，且不能再有其他累积。\n\n"
            "有效批次 = micro_batch x accumulation x data；使用流水线时由 parallel.micro_batches 取代 accumulation——"
            "mindformers 此时会把后者重置为 1；没有流水线时则把 micro_batches 重置为 1。两种情况下，实际的有效批次都与所写的不同。\n\n"
            "例如 {pipeline: 4, micro_batches: 2} 使两个阶段没有任务；{pipeline: 4, micro_batches: 16} 的空泡占 3 / 19 = 16 %。",
        ),
    ),
    "MS0364": Code(
        said("network does not divide", "模型无法均分"),
        said(
            "Tensor parallelism gives each device an equal number of heads, of key/value heads and of feed-forward columns; context "
            "parallelism an equal part of every row.\n\n"
            "Where a number does not divide, the graph fails to compile on every rank, after the data was made and all devices were "
            "waited for. A vocabulary that does not divide is only a warning: mindformers then keeps the whole tables and computes "
            "the whole loss on each device.\n\n"
            "Example: 32 heads with 8 key/value heads take tensor 1, 2, 4 or 8.",
            "张量并行把注意力头、键值头与前馈层的列均分给各设备；上下文并行把每条样本均分为等长的段。\n\n"
            "若不能整除，则在数据制作完成、所有设备就绪之后，每个进程的计算图都编译失败。词表不能整除只是警告："
            "mindformers 会在每个设备上保留整张词表并计算完整的损失。\n\n"
            "例如 32 个头、8 个键值头可用 tensor 1、2、4 或 8。",
        ),
    ),
    "MS0365": Code(
        said("device list does not match the count", "设备编号与设备数不符"),
        said(
            "device.device_ids names the devices of one node; with device.nodes it must make device.count, each once.\n\n"
            "Otherwise some ranks have no device, or two ranks share one and run out of memory.\n\n"
            "Example: 2 nodes of 8 devices are {count: 16, nodes: 2, device_ids: [0, 1, 2, 3, 4, 5, 6, 7]}.",
            "device.device_ids 是一个节点上的设备编号；乘以 device.nodes 必须等于 device.count，且不能重复。\n\n"
            "否则有的进程没有设备，或两个进程共用一个设备而显存不足。\n\n"
            "例如 2 个节点、每节点 8 个设备：{count: 16, nodes: 2, device_ids: [0, 1, 2, 3, 4, 5, 6, 7]}。",
        ),
    ),
    "MS0366": Code(
        said("does not fit into memory", "显存不足"),
        said(
            "The memory ledger adds up what the fullest device holds at its peak: weights, gradients, optimizer states, activations, "
            "logits, buffers. Peak x 1.3 must be within device.memory; the headroom is for fragmentation, workspaces and the runtime.\n\n"
            "A peak above the memory itself is an error: training would end at the first step, out of memory, after hours of data. "
            "A peak that only lacks the headroom is a warning, since the ledger is an estimate. `parallel: auto` never takes such a "
            "layout, and is an error where no layout fits.\n\n"
            "`mindspec plan NAME --memory` prints the ledger. Ways out, from light to heavy: a smaller micro_batch with more "
            "accumulation, recompute, 16-bit weights, LoRA, optimizer sharding, more devices.\n\n"
            "Example: 7 billion parameters in float32 with Adam are 27 GB of weights, 27 GB of gradients and 54 GB of moments.",
            "内存账本累加最满的设备在峰值时刻所持有的一切：权重、梯度、优化器状态、激活值、logits、缓冲区。"
            "峰值 x 1.3 必须不超过 device.memory；余量留给碎片、算子工作区与运行时。\n\n"
            "峰值本身超过内存是错误：数据处理数小时之后，训练在第一步就会显存不足。仅余量不足是警告，因为账本只是估计。"
            "`parallel: auto` 不会选取这样的布局；若没有任何布局可容纳则报错。\n\n"
            "`mindspec plan NAME --memory` 输出账本。由轻到重的办法：减小 micro_batch 并增加 accumulation、重计算、16 位权重、"
            "LoRA、优化器切分、更多设备。\n\n"
            "例如 70 亿参数以 float32 和 Adam 训练：权重 27 GB、梯度 27 GB、一二阶矩 54 GB。",
        ),
        plannable=True,
    ),
    "MS0367": Code(
        said("layout does not suit the devices", "布局与设备不相称"),
        said(
            "Not every device does every kind of parallelism. On CPU MindSpore trains in data-parallel mode alone; ring attention of "
            "context parallelism needs FlashAttention kernels, which only an Ascend has; optimizer sharding needs replicas to share "
            "the states out among. These are errors.\n\n"
            "Tensor parallelism makes four all-reduces in every layer. Over PCIe, or from node to node, the devices wait for them most "
            "of the time. That is a warning: it trains, slowly.\n\n"
            "Example: {tensor: 8} on two nodes of four devices leaves the node. Use {tensor: 4} with data or pipeline 2.",
            "并非每种设备都支持所有并行方式。在 CPU 上 MindSpore 只支持数据并行；上下文并行的环形注意力依赖 FlashAttention 算子，"
            "只有昇腾具备；优化器切分需要有多个副本分担状态。以上是错误。\n\n"
            "张量并行在每一层要做四次 all-reduce。若走 PCIe 或跨节点，设备大部分时间都在等待。这是警告：能训练，但很慢。\n\n"
            "例如在两个各有四个设备的节点上写 {tensor: 8} 会跨节点。请改用 {tensor: 4} 并配合 data 或 pipeline 2。",
        ),
    ),
    "MS0368": Code(
        said("pipeline is idle for long", "流水线空泡过大"),
        said(
            "While a pipeline fills and drains, its stages wait: a share (p - 1) / (m + p - 1) of the time for p stages and m micro "
            "batches. Above a fifth this is a warning.\n\n"
            "More and smaller micro batches lower it at the same effective batch.\n\n"
            "Example: 4 stages with 4 micro batches are idle for 3 / 7 = 43 % of the time, with 16 for 16 %.",
            "流水线填充与排空期间各阶段都在等待：p 个阶段、m 个微批时占时间的 (p - 1) / (m + p - 1)。超过五分之一即警告。\n\n"
            "有效批次不变时，微批更多、更小则占比更低。\n\n"
            "例如 4 个阶段、4 个微批时空泡占 3 / 7 = 43 %，16 个微批时占 16 %。",
        ),
    ),
    "MS0369": Code(
        said("heavier layout than needed", "布局重于所需"),
        said(
            "From light to heavy: one device with accumulation, recomputation, data parallelism, optimizer sharding, tensor, pipeline, "
            "context parallelism. A lighter layout with the same effective batch fits, and by the cost model it is at least as fast.\n\n"
            "Nothing breaks; each further kind of parallelism adds communication, and ways to fail. A heavier layout that the cost "
            "model finds faster is not warned of.\n\n"
            "Write the one that is named, or `parallel: auto`. `mindspec plan NAME --layouts` shows the ranking and its reasons.",
            "由轻到重：单卡 + 累积、重计算、数据并行、优化器切分、张量并行、流水线并行、上下文并行。"
            "有效批次不变时更轻的布局即可容纳，且按代价模型不更慢。\n\n"
            "这不会出错；但每多一种并行方式就多一份通信与故障可能。若更重的布局按代价模型更快，则不警告。\n\n"
            "请改写为所提示的布局，或写 `parallel: auto`。`mindspec plan NAME --layouts` 给出排序与理由。",
        ),
    ),
    "MS0370": Code(
        said("sequence does not divide", "序列无法均分"),
        said(
            "With tensor parallelism mindformers divides norms and residuals along the sequence (`use_seq_parallel`), over the tensor "
            "and context parallel devices together: without it each of them would hold a copy of all residuals. model.seq_length "
            "must be a multiple of tensor x context.\n\n"
            "Where it is not, the operators cannot be divided, and the graph fails to compile on every rank, after the data was "
            "made and all devices were waited for.\n\n"
            "Example: seq_length 1000 with tensor 8 and context 2 has 1000 / 16 = 62.5 tokens for each device; 1024 has 64.\n\n"
            "Choose a multiple of tensor x context; powers of two fit all layouts.",
            "使用张量并行时，mindformers 沿序列方向切分归一化与残差（`use_seq_parallel`），由张量并行与上下文并行的设备共同分担；"
            "否则每个设备都要保存全部残差的副本。因此 model.seq_length 必须是 tensor x context 的倍数。\n\n"
            "若不能整除，算子无法切分，在数据制作完成、所有设备就绪之后，每个进程的计算图都编译失败。\n\n"
            "例如 seq_length 1000、tensor 8、context 2 时每个设备得 1000 / 16 = 62.5 个 token；取 1024 则为 64。\n\n"
            "请取 tensor x context 的倍数；2 的幂适合所有布局。",
        ),
    ),
    "MS0371": Code(
        said("level of optimizer sharding without effect", "优化器切分级别不起作用"),
        said(
            "MindSpore's level1 of optimizer sharding divides optimizer states and weights over the data parallel devices; level2 "
            "also divides accumulated gradients, and level3 gathers weights only while they are used.\n\n"
            "Gradients are accumulated only over the micro batches of an update, by accumulation or in a pipeline. Where an update is "
            "one forward pass there is nothing for level2 to divide, and MindSpore computes as with level1 without saying so: the "
            "memory that was counted on is not saved.\n\n"
            "Example: {data: 8, optimizer_sharding: 2} with accumulation 1 takes the memory of optimizer_sharding 1.\n\n"
            "Write 1, which says what happens, or 3, or raise accumulation.",
            "MindSpore 优化器切分的 level1 把优化器状态与权重切分到数据并行的设备上；level2 还切分累积的梯度；"
            "level3 只在使用权重时才聚合。\n\n"
            "只有当一次更新包含多个微批（accumulation 或流水线）时才会累积梯度。若一次更新只有一次前向，level2 无可切分，"
            "MindSpore 会悄悄按 level1 计算，预期的显存并未节省。\n\n"
            "例如 {data: 8, optimizer_sharding: 2} 且 accumulation 为 1，占用的显存与 optimizer_sharding 1 相同。\n\n"
            "请写 1（与实际一致）或 3，或增大 accumulation。",
        ),
    ),
    "MS0372": Code(
        said("weights that optimizer sharding leaves whole", "优化器切分无法切分的权重"),
        said(
            "Optimizer sharding divides each weight along its first dimension over the data parallel devices, after tensor parallelism "
            "has taken its part. One whose rows do not divide stays whole on every device, with its two moments, and nothing says so "
            "but a line in the log.\n\n"
            "The tables of embeddings are the likely ones, and the largest weights of a small model: their rows are the vocabulary.\n\n"
            "Example: 32,001 rows over data 8 stay whole: with a width of 4,096 in float32, 0.5 GB for the table and 1.0 GB for its "
            "moments on each device. 32,008 rows divide. The feed-forward layers of Llama 2 7B have 11,008 = 256 x 43 rows: from data 512 "
            "on the two that widen stay whole as well, two fifths of the network. The ledger counts whole what stays whole.\n\n"
            "For tables set model.vocab_size to the multiple that is named: rows that no token uses cost nothing else. For matrices "
            "choose a smaller data, and divide by tensor or pipeline besides.",
            "优化器切分沿第一维把每个权重（先由张量并行切分）再切分到数据并行的各设备上。行数不能整除的权重及其一、二阶矩"
            "会完整保留在每个设备上，除日志中的一行外没有任何提示。\n\n"
            "最可能的是词嵌入表，它也是小模型中最大的权重：其行数就是词表大小。\n\n"
            "例如 32,001 行在 data 8 上不会被切分：宽度 4,096、float32 时每个设备上词表占 0.5 GB，其一、二阶矩占 1.0 GB；"
            "32,008 行则可以。Llama 2 7B 前馈层有 11,008 = 256 x 43 行：data 达到 512 时其中两个也保持完整，占网络的五分之二。"
            "内存账本把保持完整的部分按完整计算。\n\n"
            "对于词表，请把 model.vocab_size 设为所提示的倍数：没有 token 使用的行不会带来其他开销。"
            "对于矩阵，请取较小的 data，并同时使用 tensor 或 pipeline。",
        ),
    ),
}
