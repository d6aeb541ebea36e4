"""Substitute for piplite, JupyterLite's package installer. A page has no connection to a package index."""

from typing import NoReturn


def install(*_args: object, **_kwargs: object) -> NoReturn:
    """Rejects the installation of packages.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "this page cannot install packages, because its security policy forbids requests to a package index. To use"
        " other packages, run the notebook in an installed JupyterLab."
    )
