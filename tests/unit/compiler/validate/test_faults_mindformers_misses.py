"""What mindformers takes without a word, and where it is caught instead.

Three tables: faults that the compiler refuses, slips that it warns of, and faults of data or surroundings, which a stage
refuses before its first step. What no spec can express, since the compiler alone writes the files, has a test of its own.
Nearly all pass mindformers 1.9.0: the training runs, often ends well, and is not the one that was meant.
"""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.source import dotted
from compiler.validate import review

ROOT = Path(__file__).parents[4]
Writer = Callable[[str], Path]


class Fault(NamedTuple):
    """`kind` in words; the overrides that write it; the code; the path it is told at where that is not the last override's."""

    kind: str
    overrides: str
    code: str
    path: str = ""


FOUR_CARDS = "device.target=ascend device.count=4 device.device_ids=[0,1,2,3]"
REFUSED = [
    # Keys and values: mindformers overlooks an unknown key of most sections, and takes text for a number.
    Fault("typo in the model", "model.hiden_size=64", "MS0201"),
    Fault("typo in the layout", "parallel.tensr=2", "MS0201"),
    Fault("typo in the schedule", "pretrain.schedule.warmup_step=3", "MS0201"),
    Fault("typo in the optimizer", "pretrain.optimizer.wieght_decay=0.1", "MS0201"),
    Fault("typo in the checkpoints", "pretrain.checkpoint.evry=3", "MS0201"),
    Fault("typo in the loss scale", "pretrain.loss_scale.knd=none", "MS0201"),
    Fault("typo in the adapter", "finetune.lora.rnk=3", "MS0201"),
    Fault("typo in the device", "device.cuont=1", "MS0201"),
    Fault("typo in the data", "data.pretrain.split.validaton=0.1", "MS0201"),
    Fault("typo in the evaluation", "evaluation.suites.perplexity.splt=train", "MS0201"),
    Fault("typo at the top level", "sead=1", "MS0201"),
    Fault("a section of mindformers written into the spec", "pretrain.runner_config.sink_mode=true", "MS0201", "pretrain.runner_config"),
    Fault("integer in quotes", "pretrain.steps='100'", "MS0207"),
    Fault("learning rate in quotes", "pretrain.schedule.peak='1e-3'", "MS0207"),
    Fault("boolean in quotes", "data.pretrain.dedup.lines.exact='false'", "MS0203"),
    Fault("boolean of YAML 1.1", "data.pretrain.dedup.lines.exact=off", "MS0104"),
    Fault("number with a leading zero", "pretrain.steps=0100", "MS0104"),
    Fault("half a step", "pretrain.steps=1.5", "MS0203"),
    Fault("misspelt optimizer", "pretrain.optimizer.name=adamm", "MS0204"),
    Fault("misspelt schedule", "pretrain.schedule.name=cosin", "MS0204"),
    # Optimisation.
    Fault("negative learning rate", "pretrain.schedule.peak=-1e-3", "MS0342"),
    Fault("learning rate of zero", "pretrain.schedule.peak=0", "MS0342"),
    Fault("negative final rate", "pretrain.schedule.final=-1e-5", "MS0342"),
    Fault("learning rate of one", "pretrain.schedule.peak=1", "MS0344"),
    Fault("final rate above the peak", "pretrain.schedule.final=0.1", "MS0343"),
    Fault("warm-up longer than training", "pretrain.schedule.warmup_steps=101", "MS0341"),
    Fault("warm-up longer than fine-tuning", "finetune.schedule.warmup_steps=51", "MS0341"),
    Fault("beta of zero", "pretrain.optimizer.betas=[0,0.95]", "MS0205", "pretrain.optimizer.betas[0]"),
    Fault("beta of one", "pretrain.optimizer.betas=[0.9,1]", "MS0205", "pretrain.optimizer.betas[1]"),
    Fault("one beta", "pretrain.optimizer.betas=[0.9]", "MS0205"),
    Fault("eps of zero", "pretrain.optimizer.eps=0", "MS0205"),
    Fault("eps that is zero in float32", "pretrain.optimizer.eps=1e-300", "MS0391"),
    Fault("norm that divides by zero in float32", "model.norm_eps=1e-300", "MS0391"),
    Fault("base of the rotary embedding that is infinite in float32", "model.rope_theta=1e300", "MS0391"),
    Fault("negative weight decay", "pretrain.optimizer.weight_decay=-0.1", "MS0205"),
    Fault("weight decay that erases the weights", "pretrain.optimizer.weight_decay=1000", "MS0398"),
    Fault("gradients clipped to nothing", "pretrain.optimizer.clip_norm=0", "MS0205"),
    Fault("no step", "pretrain.steps=0", "MS0205"),
    Fault("more steps than 32 bits count", "pretrain.steps=1e10", "MS0205"),
    Fault("batch of no row", "pretrain.micro_batch=0", "MS0205"),
    Fault(
        "text for less than a batch",
        "data.pretrain.mix.budget_bytes=200 tokenizer.vocab_size=265",
        "MS0393",
        "data.pretrain.mix.budget_bytes",
    ),
    Fault("loss scale that nothing reads", "pretrain.loss_scale.initial=128", "MS0350"),
    # Shapes.
    Fault("heads that do not divide the width", "model.hidden_size=66", "MS0301"),
    Fault("heads that cannot share their key heads", "model.num_kv_heads=3", "MS0302"),
    Fault("odd head dimension", "model.num_heads=64 model.num_kv_heads=64", "MS0303", "model.hidden_size"),
    Fault("no layer", "model.num_layers=0", "MS0205"),
    Fault("no key head", "model.num_kv_heads=0", "MS0205"),
    Fault("rows of one token", "model.seq_length=1", "MS0205"),
    Fault("embeddings for fewer pieces than the tokenizer has", "model.vocab_size=100", "MS0312"),
    Fault("padding that is the end of a text", "tokenizer.special_tokens.pad='</s>'", "MS0328", "tokenizer.special_tokens.eos"),
    Fault("family that the device cannot compute", "model.family=qwen3", "MS0304"),
    Fault("numeric type that the device cannot compute", "model.dtype.compute=bfloat16", "MS0305"),
    Fault("norms that end in NaN", "model.dtype.layernorm=float16", "MS0305"),
    Fault("float16 without a loss scale", "model.dtype.compute=float16", "MS0353", "pretrain.loss_scale.kind"),
    # Layouts.
    Fault("layout of more devices than there are", f"{FOUR_CARDS} parallel={{data:2,tensor:2,pipeline:2}}", "MS0361", "parallel"),
    Fault("devices that the layout leaves idle", "device.count=2 device.device_ids=[0,1]", "MS0361", "parallel"),
    Fault("heads that tensor parallelism cannot divide", "device.target=ascend parallel.tensor=3", "MS0364"),
    Fault("fewer layers than pipeline stages", "device.target=ascend parallel.pipeline=3", "MS0363"),
    Fault("fewer micro batches than pipeline stages", "device.target=ascend parallel.pipeline=2", "MS0363", "parallel.micro_batches"),
    Fault("micro batches without a pipeline", "parallel.micro_batches=2", "MS0363"),
    Fault("optimizer sharding on a CPU", "parallel.optimizer_sharding=2", "MS0367"),
    Fault("misspelt recomputation", "parallel.recompute=ful", "MS0204"),
    Fault("more devices listed than counted", "device.device_ids=[0,1]", "MS0365"),
    # Saving.
    Fault("one checkpoint kept", "pretrain.checkpoint.keep=1", "MS0345"),
    Fault("no checkpoint kept", "pretrain.checkpoint.keep=0", "MS0205"),
    Fault("a save every 0 steps", "pretrain.checkpoint.every=0", "MS0205"),
    Fault("no save before the end", "pretrain.checkpoint.every=101", "MS0346"),
    Fault("checkpoints switched off", "pretrain.checkpoint=null", "MS0203"),
    Fault("checkpoints left out", "~pretrain.checkpoint", "MS0202", "pretrain.checkpoint"),
    Fault("checkpoint format of one's own", "pretrain.checkpoint.format=safetensor", "MS0201"),
    Fault("checkpoint prefix of one's own", "pretrain.checkpoint.prefix=rank_0", "MS0201"),
    Fault("checkpoint to load of one's own", "finetune.load_checkpoint=other.ckpt", "MS0201"),
    Fault("resuming without a checkpoint", "pretrain.resume_training=true", "MS0201"),
    # Adapters.
    Fault("misspelt target beside a good one", "finetune.lora.targets=[wq,wvv]", "MS0348", "finetune.lora.targets[1]"),
    Fault("expression in place of a target", "finetune.lora.targets=['w.*']", "MS0348", "finetune.lora.targets[0]"),
    Fault("target outside the layers", "finetune.lora.targets=[lm_head]", "MS0348", "finetune.lora.targets[0]"),
    Fault("layer named twice", "finetune.lora.targets=[wq,q_proj]", "MS0330", "finetune.lora.targets[1]"),
    Fault("no target", "finetune.lora.targets=[]", "MS0205"),
    Fault("rank of zero", "finetune.lora.rank=0", "MS0205"),
    Fault("rank above what a layer can have", "finetune.lora.rank=33", "MS0351"),
    Fault("scale of zero", "finetune.lora.alpha=0", "MS0205"),
    Fault("dropout of everything", "finetune.lora.dropout=1", "MS0205"),
    Fault("adapters that are not described", "finetune.lora=null", "MS0349"),
    # Scores.
    Fault("answers that fill the window", "evaluation.suites.core.max_new_tokens=64", "MS0389"),
    Fault("scored in a type of its own", "evaluation.dtype=float16", "MS0201"),
    Fault("scored with another template", "evaluation.suites.core.template=plain", "MS0388"),
    Fault("metric without its suite", "evaluation.suites.core=null evaluation.metrics=[answer_loss]", "MS0383", "evaluation.metrics[0]"),
    # Tokenizer.
    Fault("vocabulary of bytes alone", "tokenizer.vocab_size=100", "MS0327"),
]

WARNED = [
    Fault("learning rate of a tenth", "pretrain.schedule.peak=0.1", "MS0344"),
    Fault("no warm-up at a high rate", "pretrain.schedule.warmup_steps=0", "MS0354"),
    Fault("no warm-up at a high rate of adapters", "finetune.schedule.peak=5e-3", "MS0354", "finetune.schedule.warmup_steps"),
    Fault("warm-up for most of the training", "pretrain.schedule.warmup_steps=51", "MS0355"),
    Fault("warm-up until the end", "pretrain.schedule.warmup_steps=100", "MS0355"),
    Fault("betas in the wrong order", "pretrain.optimizer.betas=[0.95,0.9]", "MS0356"),
    Fault("weight decay above one", "pretrain.optimizer.weight_decay=2", "MS0356"),
    Fault("eps of a hundredth", "pretrain.optimizer.eps=0.01", "MS0356"),
    Fault("gradients clipped to almost nothing", "pretrain.optimizer.clip_norm=1e-4", "MS0356"),
    Fault("norm that hides the variance", "model.norm_eps=0.1", "MS0356"),
    Fault("base of the rotary embedding that lost its zeros", "model.rope_theta=100", "MS0356"),
    Fault("dropout that was meant as what is kept", "finetune.lora.dropout=0.9", "MS0356"),
    Fault("validation share that was meant as what is trained on", "data.pretrain.split.validation=0.95", "MS0399"),
    Fault("validation share of rows that was meant as what is trained on", "data.instruct.split.validation=0.9", "MS0399"),
    Fault("rank lowered and alpha left", "finetune.lora.rank=1 finetune.lora.alpha=32", "MS0357"),
    Fault("alpha lost a digit", "finetune.lora.rank=32 finetune.lora.alpha=1", "MS0357"),
    Fault("rate of full fine-tuning for adapters", "finetune.schedule.peak=1e-5", "MS0358"),
    Fault("rate too low for fresh weights", "pretrain.schedule.peak=1e-6", "MS0358"),
    Fault("text read many times", "pretrain.steps=30000", "MS0392"),
    Fault("vocabulary too large for the text", "data.pretrain.mix.budget_bytes=40kB", "MS0394", "tokenizer.vocab_size"),
    Fault(
        "checkpoints that fill the disk",
        "data.pretrain.mix.budget_bytes=1GB pretrain.steps=99999 pretrain.checkpoint.every=9 pretrain.checkpoint.keep=9999",
        "MS0395",
    ),
    Fault("exported in another type than scored", "export.dtype=float16", "MS0396"),
    Fault("scored on what was trained on", "evaluation.suites.perplexity.split=train", "MS0397"),
    Fault("loss scale that float32 does not need", "pretrain.loss_scale.kind=dynamic", "MS0359"),
]


def told(root: Path, overrides: str) -> tuple[Diagnostic, ...]:
    try:
        return review(load(root, "try", overrides.split())).warnings
    except Faults as faults:
        return faults.diagnostics


def check(fault: Fault, root: Path, severity: str) -> None:
    key, _, written = fault.overrides.split()[-1].removeprefix("~").partition("=")
    every = {(one.code, dotted(one.path), one.severity): one for one in told(root, fault.overrides)}
    assert (fault.code, fault.path or key, severity) in every
    found = every[fault.code, fault.path or key, severity]
    assert found.place is not None and found.fix
    if not fault.path:  # told at what was written: at the value, or at a key that nobody knows
        assert found.place.file == f"<override {len(fault.overrides.split())}>"
        assert found.place.text[found.place.column - 1 :].startswith(key if fault.code == "MS0201" else written)


@pytest.mark.parametrize("fault", REFUSED, ids=lambda fault: fault.kind)
def test_fault_that_mindformers_takes_is_refused(fault: Fault, project: Writer) -> None:
    check(fault, project(""), "error")


@pytest.mark.parametrize("fault", WARNED, ids=lambda fault: fault.kind)
def test_slip_that_trains_to_no_purpose_is_told(fault: Fault, project: Writer) -> None:
    root = project("")
    check(fault, root, "warning")
    assert [one.severity for one in told(root, fault.overrides)] == ["warning"]


@pytest.mark.parametrize("name", ["demo", "smoke"])
def test_shipped_experiments_give_no_warning(name: str) -> None:
    assert review(load(ROOT, name)).warnings == ()


@pytest.mark.parametrize(
    "override",
    [
        "finetune.lora.alpha=64",  # 8 times at rank 8: published
        "finetune.lora.rank=32",
        "finetune.schedule.peak=1e-4",
        "pretrain.schedule={peak: 3e-4, warmup_steps: 10}",
        "pretrain.schedule.warmup_steps=50",
        "pretrain.schedule={peak: 1e-4, warmup_steps: 0}",
        "pretrain.optimizer={betas: [0.9, 0.999], eps: 1e-5, weight_decay: 0.1, clip_norm: 0.5}",
        "pretrain.checkpoint={every: 1, keep: 100}",
        "pretrain.accumulation=4",
        "data.pretrain.mix.budget_bytes=100kB",
        "pretrain.steps=10000",
    ],
)
def test_what_people_do_on_purpose_gives_no_warning(override: str, project: Writer) -> None:
    assert review(load(project(""), "try", [override])).warnings == ()


MANY = """\
seed: -1
model: {hidden_size: 66, num_kv_heads: 3, hiden: 64}
pretrain:
  steps: 100
  micro_batch: '4'
  optimizer: {betas: [0.95, 0.9], eps: 1.0e-300}
  schedule: {peak: -1e-3, final: 0.1, warmup_steps: 2000}
  checkpoint: {every: 500, keep: 1}
finetune:
  lora: {rank: 4, alpha: 128, dropout: 1.0, targets: [q_proj, wvv]}
  schedule: {peak: 1e-5}
tokenizer: {vocab_size: 100}
export: {dtype: float16}
evaluation: {suites: {core: {max_new_tokens: 64}}, metrics: [perplexity, perplexty]}
"""


def test_all_faults_of_a_file_come_in_one_run_each_at_its_place(project: Writer) -> None:
    with pytest.raises(Faults) as caught:
        review(load(project(MANY), "try"))
    assert [f"{one.place.line}:{one.place.column} {one.code}" for one in caught.value.diagnostics if one.place] == [
        "3:7 MS0205",
        "4:22 MS0301",
        "4:40 MS0302",
        "4:43 MS0201",
        "7:16 MS0207",
        "8:22 MS0356",
        "8:40 MS0391",
        "9:20 MS0342",
        "9:53 MS0341",
        "10:23 MS0346",
        "10:34 MS0345",
        "12:26 MS0357",
        "12:40 MS0205",
        "12:63 MS0348",
        "13:20 MS0358",
        "14:25 MS0327",
        "15:17 MS0396",
        "16:46 MS0389",
        "16:74 MS0204",
    ]
    assert {one.place.file for one in caught.value.diagnostics if one.place} == {"specs/experiment/try.yaml"}


def test_a_key_written_twice_in_one_file_is_refused_at_the_second(project: Writer) -> None:
    with pytest.raises(Faults) as caught:
        load(project("pretrain:\n  micro_batch: 4\n  micro_batch: 8\n"), "try")
    assert [(one.code, str(one.place)) for one in caught.value.diagnostics] == [("MS0103", "specs/experiment/try.yaml:5:3")]


@pytest.mark.parametrize("written", ["True", "TRUE", "true"])
def test_a_boolean_of_the_command_line_is_one(written: str, project: Writer) -> None:
    spec = review(load(project(""), "try", [f"data.pretrain.dedup.lines.exact={written}"])).spec
    assert spec.data.pretrain.dedup.lines.exact is True


# File below tests/unit/runtime -> kind -> the test that sees it refused when the stage starts, before its first step.
AT_START = {
    "model/test_training_checks.py": {
        "rows that are not one id longer than the model's": "test_data_that_does_not_fit_is_refused_before_the_first_step",
        "more pieces than embeddings": "test_data_that_does_not_fit_is_refused_before_the_first_step",
        "padding of the rows that is text to the model": "test_data_that_does_not_fit_is_refused_before_the_first_step",
        "fewer rows than a batch": "test_data_that_does_not_fit_is_refused_before_the_first_step",
        "schedule of another length than the training": "test_a_schedule_of_another_length_than_the_training_is_refused",
        "accumulation written where mindformers resets it": "test_accumulation_that_would_be_reset_is_refused",
        "layout of several devices in one process": "test_a_layout_over_several_devices_is_not_started_as_one_process",
        "simulated run, skipped kernels": "test_a_run_that_computes_something_else_is_refused",
        "several processes without parallelism": "test_one_of_several_processes_is_refused",
    },
    "model/test_finetune_checks.py": {
        "base that was not loaded": "test_random_weights_in_place_of_the_base_are_refused",
        "base that trains beside its adapter": "test_a_base_that_trains_is_refused",
        "base of other sizes, which is loaded in part": "test_a_base_of_another_architecture_is_refused",
        "base that holds an adapter already": "test_a_merged_base_is_refused",
        "layer that got no adapter": "test_a_cell_without_the_adapter_asked_for_is_refused",
        "adapter that cannot learn": "test_an_adapter_that_cannot_learn_or_does_not_start_from_the_base_is_refused",
    },
    "model/test_lora.py": {"target that no layer of the base has": "test_a_misspelt_target_is_refused_although_another_matches"},
    "model/test_merge.py": {
        "merged with another scale than trained with": "test_another_scale_than_the_trained_one_is_refused",
        "merged twice": "test_merging_the_merged_model_is_refused",
        "merged into another base": "test_another_base_of_the_same_shapes_is_refused_with_both_hashes",
    },
    "data/test_rows.py": {
        "token id outside the vocabulary": "test_an_id_outside_the_vocabulary_is_refused",
    },
    "data/test_pack_dialogues.py": {
        "row without a trained token": "test_a_row_that_does_not_fit_or_trains_nothing_is_refused_by_number",
    },
    "data/test_pack.py": {"rows of another tokenizer or length": "test_rows_for_another_length_or_tokenizer_are_refused"},
    "evaluation/test_evaluate.py": {
        "scored in another type than trained": "test_another_dtype_or_network_than_the_trained_one_is_refused",
        "prompt that would be cut": "test_a_case_that_would_be_cut_is_refused",
    },
}


@pytest.mark.parametrize("file", AT_START)
def test_fault_of_data_or_surroundings_has_its_test_at_the_start_of_a_stage(file: str) -> None:
    tree = ast.parse((ROOT / "tests" / "unit" / "runtime" / file).read_text(encoding="utf-8"))
    assert set(AT_START[file].values()) <= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_there_are_more_than_a_hundred_kinds() -> None:
    kinds = [*(fault.kind for fault in [*REFUSED, *WARNED]), *(kind for kinds in AT_START.values() for kind in kinds)]
    assert len(set(kinds)) == len(kinds) > 100
