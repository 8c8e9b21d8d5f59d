"""Raw sources: their files, and how they are read."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0401": Code(
        said("source without a file to read", "来源没有可读的文件"),
        said(
            """\
The path of a source is there, and no file would be read from it: in a folder, none has an extension of the format; below a \
pattern with wildcards, none matches.

  path: data/raw/*.txt        files right in data/raw
  path: data/raw/**/*.txt     files in data/raw and in all folders below it
  path: data/raw/**           all files below data/raw, whatever they are called

`*` and `?` stand for characters within one name, never for a slash. Upper and lower case differ. Names that begin with a dot \
never match. Every file that matches is read, so the extension need not be one of the format. The stage depends on the whole \
fixed folder, data/raw here: a file that is added there runs it again.""",
            """\
来源的路径存在，但不会从中读取任何文件：文件夹中没有扩展名属于该格式的文件，或没有文件与通配路径匹配。

  path: data/raw/*.txt        直接位于 data/raw 中的文件
  path: data/raw/**/*.txt     data/raw 及其所有子文件夹中的文件
  path: data/raw/**           data/raw 之下的全部文件，名称不限

`*` 和 `?` 只代表同一名称之内的字符，绝不匹配斜杠。区分大小写。以点开头的名称不会匹配。匹配到的每个文件都会被读取，\
因此扩展名不必属于该格式。阶段依赖整个固定文件夹（此处为 data/raw）：其中新增文件会使它重新运行。""",
        ),
    ),
    "MS0402": Code(
        said("delimiter without csv", "非 csv 却写了分隔符"),
        said(
            """\
A source states what separates the fields of its rows, but its format has no such sign.

  prices: {path: data/raw/prices.csv, format: csv, text_field: note, delimiter: ";"}

Without it, a tab separates the fields of .tsv files and a comma those of all others.""",
            """\
来源写明了字段的分隔符，但它的格式没有分隔符。

  prices: {path: data/raw/prices.csv, format: csv, text_field: note, delimiter: ";"}

不写时，.tsv 文件用制表符，其余文件用逗号。""",
        ),
    ),
    "MS0403": Code(
        said("document shorter than a line", "文档上限小于行上限"),
        said(
            """\
data.pretrain.ingest.max_document_bytes is less than max_line_bytes. Long texts become several documents between lines, so one \
line that is allowed could not be a document.

  ingest: {max_line_bytes: 1MB, max_document_bytes: 20MB}""",
            """\
data.pretrain.ingest.max_document_bytes 小于 max_line_bytes。长文本是在行与行之间切成多篇文档的，因此一行合法的文本将无法成为文档。

  ingest: {max_line_bytes: 1MB, max_document_bytes: 20MB}""",
        ),
    ),
}
