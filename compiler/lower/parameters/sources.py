"""Parameters of ingest."""

from compiler.lower.parameters.synthetic import place_of
from compiler.spec import Spec
from runtime.contracts import ingest


def ingest_parameters(spec: Spec) -> ingest.Ingest:
    corpus = spec.data.pretrain
    sources = {
        name: ingest.Source(
            path=path,
            format=source.format,
            text_field=source.text_field,
            language=source.language,
            domain=source.domain,
            made=made,
            delimiter=source.delimiter,
        )
        for name, source in corpus.sources.items()
        for path, made in [place_of(source.path)]
    }
    settings = corpus.ingest
    return ingest.Ingest(
        sources=sources,
        encodings=settings.encodings,
        max_line_bytes=settings.max_line_bytes,
        fix_mojibake=settings.fix_mojibake,
        long_lines=settings.long_lines,
        max_document_bytes=settings.max_document_bytes,
        bad_rows=settings.bad_rows,
        bad_rows_max=settings.bad_rows_max,
    )
