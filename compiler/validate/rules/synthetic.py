"""Recipes of synthetic data: what they read must be there, what uses them must fit, and no key may stand in a spec."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.masking import KEY
from compiler.source import Path, Place, SourceTree
from compiler.spec import Spec
from compiler.spec.data.instruct import InstructSource
from compiler.spec.data.sources import Source
from compiler.spec.data.synthetic import MARK, Endpoint, Recipe, recipe_of
from compiler.validate.rules.files import missing_file, missing_plain_file
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, said

RULES = Rules()

HERE: Path = ("data", "synthetic")
TEXT_FIELD = "text"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[a-z])[A-Za-z0-9_\-]{32,}")


def _users(spec: Spec) -> Iterator[tuple[Path, Source | InstructSource, str]]:
    """Sources whose path names a recipe, with the name."""
    both: tuple[tuple[str, Mapping[str, Source | InstructSource]], ...] = (
        ("pretrain", spec.data.pretrain.sources),
        ("instruct", spec.data.instruct.sources),
    )
    for corpus, sources in both:
        for name, source in sources.items():
            recipe = recipe_of(source.path)
            if recipe is not None:
                yield ("data", corpus, "sources", name), source, recipe


def _endpoints(spec: Spec) -> Iterator[tuple[Path, Recipe, Endpoint]]:
    for name, recipe in spec.data.synthetic.items():
        yield (*HERE, name, "generator"), recipe, recipe.generator
        if recipe.score and recipe.score.generator:
            yield (*HERE, name, "score", "generator"), recipe, recipe.score.generator


@RULES.needing("data")
def recipe_is_declared(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    known = list(spec.data.synthetic)
    for path, _, name in _users(spec):
        if name not in known:
            meant = suggest.closest(name, known)
            options = suggest.offered(name, known) if known else said("none", "无")
            yield Diagnostic(
                "MS0461",
                said(f"data.synthetic has no recipe {name!r}", f"data.synthetic 中没有配方 {name!r}"),
                path=(*path, "path"),
                reason=said("no stage would make the rows of the source", "没有阶段会生成该来源的数据"),
                fix=suggest.did_you_mean(f"{MARK}{meant}")
                if meant
                else said(f"declare it below data.synthetic; known: {options}", f"请在 data.synthetic 下声明；已有：{options.zh}"),
                suggestion=f"{MARK}{meant}" if meant else "",
            )


@RULES.needing("data")
def source_fits_its_recipe(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, source, name in _users(spec):
        recipe = spec.data.synthetic.get(name)
        for field, wanted, why in _misfits(source, recipe) if recipe else ():
            yield Diagnostic(
                "MS0462",
                said(f"a source of recipe {name} needs {wanted}", f"使用配方 {name} 的来源需要 {wanted}"),
                path=(*path, field),
                reason=why,
                fix=said(f"write {wanted}", f"请写 {wanted}")
                if field != "path"
                else said(f"use a recipe of {wanted}", f"请使用 {wanted} 的配方"),
            )


def _misfits(source: Source | InstructSource, recipe: Recipe) -> Iterator[tuple[str, str, Said]]:
    """Field, what it should say, and why."""
    corpus, kind = ("corpus", "text") if isinstance(source, Source) else ("dialogues", "instruct")
    if recipe.kind != kind:
        zh = "预训练读取文本" if corpus == "corpus" else "微调读取指令"
        en = "pre-training reads texts" if corpus == "corpus" else "fine-tuning reads instructions"
        yield "path", f"kind: {kind}", said(f"{en}, and this recipe makes {recipe.kind} rows", f"{zh}，而该配方生成 {recipe.kind} 行")
        return
    form = said("that is how its rows are written", "其行即按此格式写出")
    if isinstance(source, InstructSource):
        if source.format != "alpaca":
            yield "format", "format: alpaca", form
        return
    if source.format != "jsonl":
        yield "format", "format: jsonl", form
    elif source.text_field != TEXT_FIELD:
        yield "text_field", f"text_field: {TEXT_FIELD}", form
    if not source.synthetic:
        yield "synthetic", "synthetic: true", said("the floor of real text would not count it", "真实文本的下限将不计入它")


@RULES.needing("data")
def recipe_is_used(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    used = {name for _, _, name in _users(spec)}
    for name in spec.data.synthetic:
        if name not in used:
            yield Diagnostic(
                "MS0463",
                said(f"no source uses recipe {name}", f"没有来源使用配方 {name}"),
                path=(*HERE, name),
                reason=said("nothing is generated for it, and nothing is paid", "不会为它生成数据，也不会产生费用"),
                fix=said(f"give a source `path: {MARK}{name}`, or remove the recipe", f"请让某个来源写 `path: {MARK}{name}`，或删除该配方"),
                severity="warning",
            )


@RULES.needing("data")
def recipe_names_are_plain(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name in spec.data.synthetic:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
            yield Diagnostic(
                "MS0206",
                said(f"{name!r} is no name for a recipe", f"{name!r} 不能用作配方名"),
                path=(*HERE, name),
                reason=said("its files are called after it", "其文件以它命名"),
                fix=said("write letters, digits, - and _, at most 64 of them", "请使用字母、数字、- 和 _，最多 64 个字符"),
            )


@RULES.needing("data")
def files_of_a_recipe_exist(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    reason = said("the recipe could not start", "配方将无法开始")
    for name, recipe in spec.data.synthetic.items():
        path = (*HERE, name)
        yield from missing_file(tree, recipe.seeds.path, (*path, "seeds", "path"), "MS0464", reason)
        files = [("prompt", (*path, "prompt"), recipe.prompt), ("transcript", (*path, "transcript"), recipe.transcript)]
        files += [("prompt", (*path, "score", "prompt"), recipe.score.prompt)] if recipe.score else []
        for _, place, written in files:
            if written is not None:
                yield from missing_plain_file(tree, written, place, "MS0464", reason)
    for path, _, endpoint in _endpoints(spec):
        if endpoint.checkpoint is not None:
            yield from missing_file(tree, endpoint.checkpoint, (*path, "checkpoint"), "MS0464", reason)


@RULES.needing("data")
def seeds_fit_the_recipe(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, recipe in spec.data.synthetic.items():
        seeds, path = recipe.seeds, (*HERE, name, "seeds")
        if (seeds.format == "jsonl") != (recipe.kind == "text"):
            wanted = "jsonl" if recipe.kind == "text" else "alpaca"
            yield Diagnostic(
                "MS0465",
                said(
                    f"{recipe.kind} rows cannot be asked for with seeds in {seeds.format}",
                    f"{seeds.format} 格式的种子不能用来生成 {recipe.kind} 行",
                ),
                path=(*path, "format"),
                reason=said("seeds show the model what a row looks like", "种子向模型展示一行的样子"),
                fix=said(f"write format: {wanted}, with seeds of that shape", f"请写 format: {wanted}，并提供该格式的种子"),
            )
        elif (seeds.format == "jsonl") != (seeds.field is not None):
            missing = seeds.format == "jsonl"
            yield Diagnostic(
                "MS0465",
                said("jsonl needs a field", "jsonl 需要 field")
                if missing
                else said(f"{seeds.format} has fields of its own", f"{seeds.format} 自带字段"),
                path=(*path, "field"),
                reason=said(
                    "it says which field of a row is the text; nothing else reads it", "它指定一行中哪个字段是正文；除此之外没有用处"
                ),
                fix=said("add `field: text`", "请加上 `field: text`") if missing else said("remove field", "请删除 field"),
            )


@RULES.needing("data")
def address_is_one(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for path, _, endpoint in _endpoints(spec):
        if fault := _address_fault(endpoint):
            message, reason, fix = fault
            place = (*path, "base_url")
            yield Diagnostic("MS0466", message, place=_hidden(tree, place), path=place, reason=reason, fix=fix)


def _hidden(tree: SourceTree, path: Path) -> Place:
    """Where something stands, without the line, which may hold a secret."""
    return replace(tree.place(path), text="")


def _address_fault(endpoint: Endpoint) -> tuple[Said, Said, Said] | None:
    """What is wrong with an address, why, and what to write; the address itself is not repeated, since it may hold a key."""
    if endpoint.base_url is None:
        return None
    url = _parsed(endpoint.base_url)
    if url is None:
        return (
            said("not an address", "不是有效的地址"),
            said("no request could be sent", "无法发送请求"),
            said("write https://HOST/v1, as the endpoint's pages say", "请按接口文档写 https://主机/v1"),
        )
    if url.username or url.password or url.query or url.fragment:
        return (
            said("holds a user, a query or a fragment", "含有用户名、查询或片段"),
            said(
                "what stands there is written into compiled files and logs, and /chat/completions could not follow it",
                "其内容会写入编译后的文件与日志，且之后无法接 /chat/completions",
            ),
            said("write the bare address, and the key's variable in api_key_env", "请只写地址本身，并在 api_key_env 中写密钥的环境变量名"),
        )
    if url.path.rstrip("/").endswith("/chat/completions"):
        return (
            said("ends in /chat/completions", "以 /chat/completions 结尾"),
            said("the stage adds it", "该部分由阶段自动添加"),
            said("remove it from the address", "请从地址中删去"),
        )
    if url.scheme == "http" and not endpoint.plain_http and not _loopback(url.hostname or ""):
        return (
            said("http to another machine", "以 http 访问其他机器"),
            said("the key and all text could be read on the way", "密钥与全部文本在途中可被读取"),
            said("write https, or set plain_http: true for a network that you trust", "请写 https；若网络可信，请设 plain_http: true"),
        )
    return None


def _parsed(written: str) -> SplitResult | None:
    """The address, or None for what is none: another scheme, no host, blanks, a port out of range."""
    try:
        url = urlsplit(written)
        sound = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        return None
    return url if sound and not re.search(r"\s", written) and written.isascii() else None


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@RULES.needing("data")
def no_key_is_written(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for path, _, endpoint in _endpoints(spec):
        for field in ("api_key_env", "base_url", "model"):
            written = getattr(endpoint, field)
            if written is not None and _is_key(field, written):
                place, secret = (*path, field), _looks_secret(written)
                yield Diagnostic(
                    "MS0467",
                    said("looks like a key", "看起来是密钥")
                    if secret
                    else said("not the name of an environment variable", "不是环境变量名"),
                    place=_hidden(tree, place),
                    path=place,
                    reason=said("what stands in a spec is committed, compiled and logged", "规格中的内容会被提交、编译并写入日志"),
                    fix=said(
                        "write api_key_env: LLM_API_KEY, set that variable where the stage runs, and withdraw a key that was committed",
                        "请写 api_key_env: LLM_API_KEY，在运行阶段的环境中设置该变量；已提交过的密钥请作废",
                    )
                    if secret
                    else said(
                        "write a name of letters, digits and _, such as LLM_API_KEY", "请写由字母、数字和 _ 组成的名称，如 LLM_API_KEY"
                    ),
                )


def _is_key(field: str, written: str) -> bool:
    return _looks_secret(written) or (field == "api_key_env" and not _VARIABLE.fullmatch(written))


def _looks_secret(written: str) -> bool:
    return bool(KEY.search(written) or _RANDOM.fullmatch(written))


@RULES.needing("data")
def money_and_answers_are_known(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, recipe, endpoint in _endpoints(spec):
        for field in ("input_price", "output_price"):
            if recipe.budget is not None and endpoint.kind == "endpoint" and getattr(endpoint, field) is None:
                yield Diagnostic(
                    "MS0468",
                    said(f"a budget needs {field}", f"设置预算需要 {field}"),
                    path=(*path, field),
                    reason=said("what a request costs would not be known", "将无法得知每个请求的费用"),
                    fix=said("write the price of a million tokens (0 for a server of your own)", "请写每百万词元的价格（自有服务器写 0）"),
                )
    for name, recipe in spec.data.synthetic.items():
        for field, message, fix in _contradictions(recipe):
            yield Diagnostic(
                "MS0468", message, path=(*HERE, name, *field), reason=said("no row could come of it", "将得不到任何数据"), fix=fix
            )


def _contradictions(recipe: Recipe) -> Iterator[tuple[Path, Said, Said]]:
    if recipe.mode == "replay" and recipe.transcript is None:
        message = said("replay without a transcript", "重放却没有应答记录")
        yield ("mode",), message, said("name the file of answers in `transcript`", "请在 `transcript` 中写出记录文件")
    if recipe.sieve.min_characters > recipe.sieve.max_characters:
        message = said("min_characters is larger than max_characters", "min_characters 大于 max_characters")
        yield ("sieve", "min_characters"), message, said("lower it", "请调低")


@RULES.needing("data")
def rows_of_people_keep_their_share(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """Where no source has a weight, all rows are used once, which says nothing of shares, unless every source is synthetic."""
    settings, limit = spec.data.instruct, spec.data.instruct.synthetic_max
    given = [source.weight for source in settings.sources.values() if source.weight]
    weights = {name: 1.0 if source.weight is None else source.weight for name, source in settings.sources.items()}
    written = [name for name, source in settings.sources.items() if source.synthetic or recipe_of(source.path) is not None]
    share = sum(weights[name] for name in written) / (sum(weights.values()) or 1.0)
    if share > limit and (given or len(written) == len(weights)):
        yield Diagnostic(
            "MS0332",
            said(
                f"the weights ask for {share:.0%} synthetic rows, but at most {limit:.0%} is allowed",
                f"按权重，合成样本占 {share:.0%}，而上限为 {limit:.0%}",
            ),
            path=("data", "instruct", "synthetic_max"),
            reason=said("a model trained mostly on the output of models loses variety", "主要用模型产出的文本训练，模型会丧失多样性"),
            fix=said("add rows that people wrote, or lower the weights of synthetic sources", "请加入人工撰写的样本，或降低合成来源的权重"),
        )


@RULES.needing("data")
def one_model_is_named(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    needs = {"endpoint": ("base_url", "model"), "checkpoint": ("checkpoint",)}
    for path, _, endpoint in _endpoints(spec):
        for kind, names in needs.items():
            for field in names:
                wanted, given = kind == endpoint.kind, getattr(endpoint, field) is not None
                if wanted != given:
                    yield Diagnostic(
                        "MS0469",
                        said(f"kind: {endpoint.kind} needs {field}", f"kind: {endpoint.kind} 需要 {field}")
                        if wanted
                        else said(f"kind: {endpoint.kind} has no {field}", f"kind: {endpoint.kind} 没有 {field}"),
                        path=(*path, field),
                        reason=said("it would not be clear which model is asked", "无法确定向哪个模型请求"),
                        fix=said(f"add {field}", f"请添加 {field}")
                        if wanted
                        else said(f"remove {field}, or write kind: {kind}", f"请删除 {field}，或写 kind: {kind}"),
                    )
