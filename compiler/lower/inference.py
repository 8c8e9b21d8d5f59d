"""Plan -> the mindformers files of evaluation and prediction, on one device.

No stage reads them: an experiment evaluates by its own stage, which counts tokens and not batches. They are for people who
run mindformers themselves, mostly on an accelerator, in the experiment folder.
"""

from typing import Any, Literal

from compiler import mindformers as mf
from compiler.lower.network import llama
from compiler.lower.training import context, dataset, text_columns
from compiler.plan import Plan

BLOCK, BLOCKS = 16, 512  # tokens of a block of the paged cache, and blocks; mindformers' defaults

Half = Literal["float16", "bfloat16"]


def evaluate_config(plan: Plan) -> mf.EvaluationConfig:
    """Perplexity of the base on the validation rows of its corpus.

    mindformers turns flash attention off for it, so it is not written.
    """
    spec, batch = plan.experiment.spec, plan.experiment.spec.pretrain.micro_batch
    rows = dataset(spec, "packed/pretrain/validation", text_columns(spec), batch, shuffle=False)
    weights = "base/model.safetensors"
    return mf.EvaluationConfig(
        seed=spec.seed,
        output_dir=".scratch/mindformers-evaluate",
        load_checkpoint=weights,
        runner_config=mf.Runner(epochs=1, batch_size=batch, sink_mode=plan.profile.sink_mode),
        eval_dataset=rows,
        eval_dataset_task=mf.DatasetTask(dataset_config=rows),
        context=context(plan.profile, device_id=0, infer_boost="on"),
        model=mf.Model(model_config=llama(plan, batch, use_flash_attention=False, **_whole_rows(plan), **_kept(plan))),
    )


def _whole_rows(plan: Plan) -> dict[str, Any]:
    """Only training cuts the last id off a row of seq_length + 1: evaluation takes it whole, and shifts what it predicts."""
    model = plan.experiment.spec.model
    length = model.seq_length + 1
    scaling = model.rope_scaling
    return {"seq_length": length} | ({"max_position_embedding": max(length, scaling.original_length + 1)} if scaling else {})


def _kept(plan: Plan) -> dict[str, Any]:
    """mindformers evaluates and answers in float16 where bfloat16 computes on float32 weights; on bfloat16 weights it does not."""
    dtype = plan.experiment.spec.model.dtype
    return {"param_init_type": "bfloat16"} if (dtype.compute, dtype.params) == ("bfloat16", "float32") else {}


def predict_config(plan: Plan) -> mf.PredictionConfig:
    """Greedy answers of the merged model."""
    spec = plan.experiment.spec
    special, weights = spec.tokenizer.special_tokens, "merged/model.safetensors"
    tokenizer = mf.Tokenizer(
        vocab_file="tokenizer/tokenizer.model", unk_token="<unk>", bos_token=special.bos, eos_token=special.eos, pad_token=special.pad
    )
    return mf.PredictionConfig(
        seed=spec.seed,
        output_dir=".scratch/mindformers-predict",
        load_checkpoint=weights,
        postprocess_use_numpy=plan.profile.numpy_sampling,
        predict_batch_size=1,
        runner_config=mf.Runner(epochs=1, batch_size=1, sink_mode=plan.profile.sink_mode),
        context=context(plan.profile, device_id=0, infer_boost="on"),
        processor=mf.Processor(tokenizer=tokenizer),
        model=mf.Model(model_config=llama(plan, 1, **(_kept(plan) | _generation(plan) | _cache(plan)))),
    )


def _generation(plan: Plan) -> dict[str, Any]:
    """Greedy; without a kernel for it, sampling among the one best."""
    sampled = plan.profile.numpy_sampling
    length = plan.experiment.spec.model.seq_length
    return {"max_decode_length": length, "repetition_penalty": 1.0, "top_k": 1, "top_p": 1.0, "do_sample": sampled}


def _cache(plan: Plan) -> dict[str, Any]:
    """The paged cache computes in 16 bits, and its shapes are known only when a prompt is; twice the blocks of one text."""
    if not plan.profile.paged_cache:
        return {}
    model = plan.experiment.spec.model
    half: Half = "float16" if model.dtype.compute == "float16" else "bfloat16"
    return {
        "use_past": True,
        "is_dynamic": True,
        "block_size": BLOCK,
        "num_blocks": max(BLOCKS, 2 * -(-model.seq_length // BLOCK)),
        "compute_dtype": half,
        "param_init_type": half,
        "rotary_dtype": half,
    }
