"""Plan -> StageGraph: what every stage reads, writes and is configured with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import PurePosixPath
from typing import Any, cast

from compiler.families import FAMILIES
from compiler.graph import StageGraph, StageNode
from compiler.lower.inference import evaluate_config, predict_config
from compiler.lower.parameters import BUILDERS
from compiler.lower.parameters.deduplication import evaluation_files
from compiler.lower.parameters.synthetic import recipe_files, synthesize_placement
from compiler.lower.present import absent_results, present, unread_results
from compiler.lower.training import finetune_config, pretrain_config
from compiler.mindformers import written
from compiler.plan import Plan
from compiler.planning.profiles import DeviceProfile
from compiler.programs import Programs
from compiler.project import Project
from compiler.spec import Spec
from compiler.spec.data.synthetic import recipe_of
from runtime.contracts.base import Contract
from runtime.contracts.patterns import fixed_folder

ROOT = "../.."


def lower(plan: Plan, project: Project) -> StageGraph:
    """The stages in the order of the main job, each with the code files it runs as dependencies."""
    spec, programs = plan.experiment.spec, project.programs()
    return StageGraph(
        name=spec.name,
        stages=tuple(_stage(contract, plan, programs) for contract in present(spec)),
        environment=plan.experiment.locked,
        template=plan.experiment.template,
        compare=_compare(spec),
        presentation=_presentation(spec),
        placement=_placement(spec, plan.profile),
        apart=_apart(plan),
    )


def _apart(plan: Plan) -> dict[str, Mapping[str, Any]]:
    """Evaluation and prediction by mindformers, which has no tokenizer and weights of ours for its Megatron-like graphs.

    Its own tokenizer reads SentencePiece models alone, so there is no file for prediction with others.
    """
    if FAMILIES[plan.experiment.spec.model.family].backend != "legacy":
        return {}
    answers = {"predict": written(predict_config(plan))} if plan.experiment.spec.tokenizer.kind == "sentencepiece" else {}
    return {"evaluate": written(evaluate_config(plan)), **answers}


def _stage(contract: Contract, plan: Plan, programs: Programs) -> StageNode:
    config = _config(contract, plan)
    tracked = {name: _at(config, path) for name, path in contract.tracked.items()}
    return StageNode(contract, _dependencies(contract, plan.experiment.spec, programs), config, tracked)


def _config(contract: Contract, plan: Plan) -> Mapping[str, Any]:
    if contract.name == "pretrain":
        return written(pretrain_config(plan))
    if contract.name == "finetune":
        return written(finetune_config(plan))
    return plain(stated(BUILDERS[contract.name](plan.experiment.spec)))


def stated(value: Any) -> Any:
    """A parameter record as a mapping, without fields that have their default."""
    if is_dataclass(value):
        told = {one.name: getattr(value, one.name) for one in fields(value) if getattr(value, one.name) != _default(one)}
        return {name: stated(item) for name, item in told.items()}
    if isinstance(value, Mapping):
        return {key: stated(item) for key, item in cast(Mapping[str, Any], value).items()}
    return [stated(item) for item in cast(Iterable[Any], value)] if isinstance(value, (list, tuple)) else value


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def plain(value: Any) -> Any:
    """Mappings, lists and scalars only."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in cast(Mapping[str, Any], value).items()}
    return [plain(item) for item in cast(Iterable[Any], value)] if isinstance(value, (list, tuple)) else value


def _filled(value: Any) -> Any:
    """As `plain`, without the optional keys that are not set: in a mindformers file None is not the same as absent."""
    if isinstance(value, Mapping):
        return {key: _filled(item) for key, item in cast(Mapping[str, Any], value).items() if item is not None}
    return [_filled(item) for item in cast(Iterable[Any], value)] if isinstance(value, (list, tuple)) else value


def _at(config: Mapping[str, Any], dotted: str) -> Any:
    value: Any = config
    for part in dotted.split("."):
        value = cast(Mapping[str, Any], value).get(part) if isinstance(value, Mapping) else None
    return value


def _dependencies(contract: Contract, spec: Spec, programs: Programs) -> tuple[str, ...]:
    """What is read first: code, configuration, raw files, other stages' results."""
    code = [f"{ROOT}/{path}" for path in (*programs.files(contract.program), *contract.resources)]
    metrics = [f"metrics/{name}.json" for name in contract.reads_metrics]
    raw = [_from_experiment(path) for path in _raw_paths(contract, spec)]
    read = dict.fromkeys([*code, contract.config, *contract.reads_files, *raw, *contract.inputs, *metrics, *contract.reads_plots])
    absent = absent_results(spec) | unread_results(contract, spec)
    return tuple(path for path in read if path not in absent)


def _raw_paths(contract: Contract, spec: Spec) -> list[str]:
    return _RAW[contract.name](spec) if contract.name in _RAW else []


def _texts(spec: Spec) -> list[str]:
    paths = (source.path for source in spec.data.pretrain.sources.values())
    return [fixed_folder(path) for path in paths if recipe_of(path) is None]  # DVC knows files and folders, no patterns


def _dialogues(spec: Spec) -> list[str]:
    cases = _cases(spec) if spec.data.instruct.decontaminate else []
    return [source.path for source in spec.data.instruct.sources.values() if recipe_of(source.path) is None] + cases


def _cases(spec: Spec) -> list[str]:
    return [spec.evaluation.suites.core.cases] if spec.evaluation.suites.core else []


def _reference(spec: Spec) -> list[str]:
    return [spec.data.pretrain.clean.perplexity.reference] if spec.data.pretrain.clean.perplexity else []


def _labelled(spec: Spec) -> list[str]:
    return [spec.data.pretrain.filter.classifier.rows] if spec.data.pretrain.filter.classifier else []


def _given_tokenizer(spec: Spec) -> list[str]:
    return [spec.tokenizer.path] if spec.tokenizer.path else []


_RAW: Mapping[str, Callable[[Spec], list[str]]] = {
    "sieve": _reference,
    "synthesize": recipe_files,
    "ingest": _texts,
    "tokenizer": _given_tokenizer,
    "dedup": evaluation_files,
    "filter": _labelled,
    "format": _dialogues,
    "evaluate": _cases,
}


def _from_experiment(path: str) -> str:
    return path if path.startswith("/") else str(PurePosixPath(ROOT) / path)


def _compare(spec: Spec) -> Mapping[str, Any]:
    compare = spec.compare
    limits = {metric: _filled(limit.model_dump()) for metric, limit in compare.tolerance.items()}
    return {"baseline": compare.baseline, "gate": compare.gate, "tolerance": limits}


def _presentation(spec: Spec) -> Mapping[str, Any]:
    """Licence and date of each source are for the record; like the title, they change no result of a stage but the report."""
    corpora = {"pretrain": spec.data.pretrain.sources, "instruct": spec.data.instruct.sources}
    told = {
        corpus: {name: {"licence": source.licence, "date": source.date} for name, source in sources.items()}
        for corpus, sources in corpora.items()
    }
    return {"title": spec.title, "description": spec.description, "languages": list(spec.report.languages), "sources": told}


def _placement(spec: Spec, profile: DeviceProfile) -> Mapping[str, Any]:
    launch, bound = spec.launch, _memory_bound(spec, profile)
    placed = {"workers": launch.workers, "threads": launch.threads, "log_every": launch.log_every, "engine": launch.engine}
    optional = {"ray_address": launch.ray_address, "max_device_memory": bound, "synthetic": synthesize_placement(spec)}
    return {**placed, "device_ids": list(spec.device.device_ids), **{name: value for name, value in optional.items() if value}}


def _memory_bound(spec: Spec, profile: DeviceProfile) -> str | None:
    """What MindSpore may take of a device, in its own words: whole units of 2**30 bytes, which it calls GB.

    Without it mindformers bounds every device at 58 of them, whatever the device has.
    """
    units = spec.device.memory // 2**30
    return f"{units}GB" if profile.memory_limit and units else None
