"""Synthetic data."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0461": Code(
        said("recipe that is not declared", "未声明的配方"),
        said(
            """\
The path of a source is `recipe:NAME`, and data.synthetic has no recipe of that name. The rows of such a source are made by the \
stage `synthesize`; without the recipe nothing makes them.

  data:
    synthetic:
      questions: {kind: instruct, ...}
    instruct:
      sources:
        made: {path: recipe:questions, format: alpaca}""",
            """\
来源的路径是 `recipe:NAME`，而 data.synthetic 中没有这个名称的配方。此类来源的行由 `synthesize` 阶段生成；没有配方就不会有数据。

  data:
    synthetic:
      questions: {kind: instruct, ...}
    instruct:
      sources:
        made: {path: recipe:questions, format: alpaca}""",
        ),
    ),
    "MS0462": Code(
        said("source and recipe do not fit", "来源与配方不符"),
        said(
            """\
A recipe writes rows of one shape, and the source that uses it must read that shape:

  kind: instruct   a source of data.instruct with format: alpaca
  kind: text       a source of data.pretrain with format: jsonl, text_field: text and synthetic: true

`synthetic: true` puts the source under data.pretrain.mix.synthetic_max, the limit on text that models wrote.""",
            """\
配方只写出一种格式的行，使用它的来源必须按该格式读取：

  kind: instruct   data.instruct 的来源，format: alpaca
  kind: text       data.pretrain 的来源，format: jsonl、text_field: text、synthetic: true

`synthetic: true` 使该来源受 data.pretrain.mix.synthetic_max（模型所写文本的上限）约束。""",
        ),
    ),
    "MS0463": Code(
        said("recipe that nothing uses", "未被使用的配方"),
        said(
            """\
A recipe is declared below data.synthetic, and no source has `path: recipe:NAME`. It is not run, so that nothing is paid for rows \
that nobody reads.""",
            """\
data.synthetic 下声明了配方，却没有来源写 `path: recipe:NAME`。它不会运行，因此不会为无人读取的数据付费。""",
        ),
    ),
    "MS0464": Code(
        said("file of a recipe does not exist", "配方的文件不存在"),
        said(
            """\
Seeds, prompts and transcripts are files of the project, with paths relative to its root. All of them are dependencies of the stage \
`synthesize`: a changed prompt asks anew, an unchanged one never does.""",
            """\
种子、提示和应答记录都是项目内的文件，路径相对于项目根目录。它们都是 `synthesize` 阶段的依赖：提示改变会重新请求，不变则绝不重复。""",
        ),
    ),
    "MS0465": Code(
        said("seeds do not fit the recipe", "种子与配方不符"),
        said(
            """\
Seeds are shown to the model as examples of what it shall write, so they have the shape of what is made:

  kind: instruct   seeds: {path: ..., format: alpaca}, or messages: the first question and its answer
  kind: text       seeds: {path: ..., format: jsonl, field: text}""",
            """\
种子作为示例展示给模型，因此与要生成的内容格式相同：

  kind: instruct   seeds: {path: ..., format: alpaca}，或 messages（取第一个问题及其回答）
  kind: text       seeds: {path: ..., format: jsonl, field: text}""",
        ),
    ),
    "MS0466": Code(
        said("address of a model", "模型的接口地址"),
        said(
            """\
base_url is the address of a chat-completions API without its last part, which the stage adds:

  base_url: https://llm.example.com/v1      -> POST https://llm.example.com/v1/chat/completions
  base_url: http://127.0.0.1:8000/v1        a server on this machine

http to another machine shows key and text to everybody on the way; `plain_http: true` allows it for a network that you trust. Users, \
passwords and queries do not belong into an address that is compiled and logged.""",
            """\
base_url 是 chat-completions 接口的地址，不含由阶段添加的最后一段：

  base_url: https://llm.example.com/v1      -> POST https://llm.example.com/v1/chat/completions
  base_url: http://127.0.0.1:8000/v1        本机的服务

以 http 访问其他机器会使密钥与文本在途中可见；若网络可信，可设 `plain_http: true`。用户名、密码和查询不应写进会被编译和记录的地址。""",
        ),
    ),
    "MS0467": Code(
        said("key in a spec", "规格中的密钥"),
        said(
            """\
A spec holds the name of the environment variable in which the key stands, never the key:

  generator: {..., api_key_env: LLM_API_KEY}

  $ export LLM_API_KEY=...
  $ mindspec run NAME

The key goes into the header of the requests alone: not into compiled files, transcripts, logs or messages. A key that was committed \
must be withdrawn, since the history keeps it.""",
            """\
规格中写的是存放密钥的环境变量名，而不是密钥本身：

  generator: {..., api_key_env: LLM_API_KEY}

  $ export LLM_API_KEY=...
  $ mindspec run NAME

密钥只出现在请求头中，不会进入编译后的文件、应答记录、日志或消息。已提交的密钥会留在历史中，必须作废。""",
        ),
    ),
    "MS0468": Code(
        said("recipe contradicts itself", "配方自相矛盾"),
        said(
            """\
Settings of a recipe need each other:

  budget: 5.0        needs input_price and output_price of every model that is asked
  mode: replay       needs a transcript, since nothing is asked
  sieve              min_characters is at most max_characters

The budget covers writing and judging. Before each request its longest possible cost is reserved, so that it is never exceeded.""",
            """\
配方的设置相互依赖：

  budget: 5.0        需要每个被请求的模型都有 input_price 和 output_price
  mode: replay       需要 transcript，因为不会发送请求
  sieve              min_characters 不大于 max_characters

预算包含生成与评分。每次请求前都会预留其最大可能费用，因此不会超支。""",
        ),
    ),
    "MS0469": Code(
        said("no model, or two", "没有模型或有两个模型"),
        said(
            """\
A generator names one model: behind an address, or a checkpoint of this project in a folder.

  generator: {base_url: https://llm.example.com/v1, model: writer-1}
  generator: {kind: checkpoint, checkpoint: data/writer}

The folder of a checkpoint is copied from an experiment:

  $ cp -rL experiments/NAME/merged data/writer
  $ cp -rL experiments/NAME/tokenizer data/writer/tokenizer
  $ cp experiments/NAME/config/template.yaml data/writer/template.yaml

It runs on the CPU without a cache of keys and values, so it is for small models. A larger one is asked behind an address: let a server \
on this machine load it, and write base_url: http://127.0.0.1:PORT/v1.""",
            """\
生成模型只能是一个：接口地址后的模型，或本项目的检查点文件夹。

  generator: {base_url: https://llm.example.com/v1, model: writer-1}
  generator: {kind: checkpoint, checkpoint: data/writer}

检查点文件夹从实验中复制：

  $ cp -rL experiments/NAME/merged data/writer
  $ cp -rL experiments/NAME/tokenizer data/writer/tokenizer
  $ cp experiments/NAME/config/template.yaml data/writer/template.yaml

它在 CPU 上运行且没有键值缓存，因此只适合小模型。较大的模型请用本机服务加载，并写 base_url: http://127.0.0.1:端口/v1。""",
        ),
    ),
}
