"""Plan -> the `model` part of a mindformers file."""

from typing import Any

from compiler import mindformers as mf
from compiler.families import FAMILIES, layer
from compiler.plan import Plan
from compiler.spec import Spec
from compiler.spec.model import Model

Network = mf.Model | mf.Qwen3Model


def network(plan: Plan, batch_size: int, adapters: mf.Pet | None) -> Network:
    """The network to train, with its adapters if any. `batch_size`: rows of one forward pass on one device."""
    if FAMILIES[plan.experiment.spec.model.family].backend == "mcore":
        return mf.Qwen3Model(model_config=_qwen3(plan, batch_size, adapters))
    return mf.Model(model_config=llama(plan, batch_size, pet_config=adapters, parallel_optimizer=_sharded(plan)))


def _sharded(plan: Plan) -> bool | None:
    return True if plan.layout.optimizer_sharding else None


def llama(plan: Plan, batch_size: int, **settings: Any) -> mf.ModelConfig:
    """The legacy Llama of a plan; `settings` add to what a plan says, or replace it."""
    return mf.ModelConfig(**{**_llama(plan, batch_size), **settings})


def _llama(plan: Plan, batch_size: int) -> dict[str, Any]:
    model, profile, architecture = plan.experiment.spec.model, plan.profile, plan.architecture
    special = plan.experiment.special
    return {
        "batch_size": batch_size,
        "seq_length": model.seq_length,
        "hidden_size": architecture.hidden_size,
        "num_layers": architecture.num_layers,
        "num_heads": architecture.num_heads,
        "n_kv_heads": architecture.num_kv_heads,
        "vocab_size": architecture.vocab_size,
        "intermediate_size": architecture.intermediate_size,
        "rms_norm_eps": model.norm_eps,
        "theta": model.rope_theta,
        **_rope_scaling(model),
        "bos_token_id": special.bos,
        "eos_token_id": special.eos,
        "pad_token_id": special.pad,
        "compute_dtype": model.dtype.compute,
        "layernorm_compute_type": model.dtype.layernorm,
        "softmax_compute_type": model.dtype.softmax,
        "rotary_dtype": model.dtype.rotary,
        "param_init_type": model.dtype.params,
        "use_flash_attention": profile.flash_attention,
        "use_rope_slice": profile.rope_slice,
        "fused_rms_norm": profile.fused_rms_norm,
        "qkv_has_bias": architecture.qkv_bias or None,
        "tie_word_embeddings": architecture.tied or None,
    }


def _rope_scaling(model: Model) -> dict[str, Any]:
    """Llama 3.1's scaled frequencies. Their table needs more rows than the original length, or mindformers refuses them."""
    scaling = model.rope_scaling
    if scaling is None:
        return {}
    factors = mf.RopeScaling(
        factor=scaling.factor,
        low_freq_factor=scaling.low_freq_factor,
        high_freq_factor=scaling.high_freq_factor,
        original_max_position_embeddings=scaling.original_length,
    )
    rows = max(model.seq_length, scaling.original_length + 1)
    return {"extend_method": "LLAMA3", "scaling_factor": factors, "max_position_embedding": rows}


def _qwen3(plan: Plan, batch_size: int, adapters: mf.Pet | None) -> mf.Qwen3Config:
    model, architecture, special = plan.experiment.spec.model, plan.architecture, plan.experiment.special
    return mf.Qwen3Config(
        batch_size=batch_size,
        seq_length=model.seq_length,
        hidden_size=architecture.hidden_size,
        intermediate_size=architecture.intermediate_size,
        num_hidden_layers=architecture.num_layers,
        num_attention_heads=architecture.num_heads,
        num_key_value_heads=architecture.num_kv_heads,
        head_dim=architecture.head_dim,
        vocab_size=architecture.vocab_size,
        max_position_embeddings=model.seq_length,
        rms_norm_eps=model.norm_eps,
        rope_theta=model.rope_theta,
        tie_word_embeddings=architecture.tied,
        untie_embeddings_and_output_weights=not architecture.tied,
        bos_token_id=special.bos,
        eos_token_id=special.eos,
        pad_token_id=special.pad,
        params_dtype=model.dtype.params,
        compute_dtype=model.dtype.compute,
        layernorm_compute_dtype=model.dtype.layernorm,
        softmax_compute_dtype=model.dtype.softmax,
        rotary_dtype=model.dtype.rotary,
        pet_config=adapters,
    )


def adapters(spec: Spec) -> mf.Pet | None:
    """LoRA on the layers of the spec; None where all weights are trained."""
    lora, dtype = spec.finetune.lora, spec.model.dtype
    if spec.finetune.method == "full":
        return None
    assert lora is not None, "validation lets no LoRA without its section pass"
    return mf.Pet(
        lora_rank=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        param_init_type=dtype.params,
        compute_dtype=dtype.compute,
        target_modules="|".join(f"{layer(target)}$" for target in lora.targets),
    )
