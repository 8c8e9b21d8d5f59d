"""What the YAML reader says of a fault, in Chinese."""

_CHINESE = {
    "while scanning a quoted scalar": "在带引号的文本中，",
    "while scanning a plain scalar": "在不带引号的文本中，",
    "while scanning a block scalar": "在块文本中，",
    "while scanning a simple key": "在一个键中，",
    "while scanning for the next token": "在下一个记号处，",
    "while scanning an anchor": "在锚点中，",
    "while scanning an alias": "在别名中，",
    "while scanning a tag": "在标签中，",
    "while scanning a directive": "在指令中，",
    "while parsing a node": "在一个节点中，",
    "while parsing a flow node": "在方括号或花括号之内，",
    "while parsing a flow sequence": "在方括号列表中，",
    "while parsing a flow mapping": "在花括号映射中，",
    "while parsing a block mapping": "在映射中，",
    "while parsing a block collection": "在列表中，",
    "while parsing a block node": "在一个节点中，",
    "mapping values are not allowed in this context": "此处不能有冒号：文本中的冒号要加引号",
    "block sequence entries are not allowed in this context": "此处不能以 - 开始列表项",
    "found unexpected end of stream": "文件在此之前就结束了（引号或括号没有闭合）",
    "found a tab character that violates indentation": "缩进中有制表符",
    "found character that cannot start any token": "此字符不能作为开头",
    "found unexpected ':'": "多余的冒号",
    "found undefined alias": "别名没有对应的锚点",
    "found unknown escape character": "未知的转义字符",
    "did not find expected ',' or ']'": "缺少逗号或右方括号",
    "did not find expected ',' or '}'": "缺少逗号或右花括号",
    "did not find expected node content": "缺少内容",
    "did not find expected key": "此处应为键（检查缩进）",
    "did not find expected '-' indicator": "此处应为 - 开头的列表项（检查缩进）",
    "did not find expected <document start>": "此处不应再有内容",
    "did not find expected alphabetic or numeric character": "此处应为字母或数字",
    "could not find expected ':'": "缺少冒号",
    "expected a single document in the stream": "一个文件只能有一份文档",
    "but found another document": "此处又开始了一份",
}


def in_chinese(words: str) -> str:
    """The words of the reader in Chinese; words that are not known as they are, with a blank behind them."""
    return _CHINESE.get(words, f"{words} ")
