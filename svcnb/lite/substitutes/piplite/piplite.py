"""Settings of the kernel, and the command that a page cannot perform."""

from typing import NoReturn

_PIPLITE_DISABLE_PYPI = True
_PIPLITE_URLS: list[str] = []


def install(*_args: object, **_kwargs: object) -> NoReturn:
    """Raises an error that explains which packages a cell can import.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "this page cannot install packages, because its security policy forbids requests to a package index. To use"
        " other packages, run the notebook in an installed JupyterLab"
    )
