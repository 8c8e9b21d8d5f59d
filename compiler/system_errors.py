"""What the operating system refuses, in both languages."""

import errno

from compiler.wording import Said, said

_SYSTEM = {
    errno.EACCES: "没有权限", errno.EPERM: "不允许该操作", errno.ENOSPC: "设备上没有剩余空间", errno.EROFS: "文件系统只读",
    errno.ENOENT: "没有这个文件或文件夹", errno.EFBIG: "文件过大", errno.ENAMETOOLONG: "文件名过长", errno.EDQUOT: "超出磁盘配额",
    errno.EISDIR: "是文件夹", errno.ENOTDIR: "不是文件夹", errno.ELOOP: "符号链接层数过多", errno.EMFILE: "打开的文件过多",
}  # fmt: skip


def told(error: OSError) -> Said:
    """The refusal alone."""
    english = error.strerror or str(error)
    return said(english, _SYSTEM.get(error.errno or 0, english))


def told_with_file(error: OSError) -> Said:
    """The refusal, and of which file."""
    file = f": {error.filename}" if error.filename else ""
    return said(f"{told(error)}{file}", f"{told(error).zh}{file}")
