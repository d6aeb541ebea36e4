"""Substitute for ``piplite.cli``. The line magic ``%pip`` raises an error, because a page cannot install packages."""


async def get_transformed_code(_arguments: list[str]) -> str:
    """Returns the code that the kernel runs instead of ``%pip``. The code raises NotImplementedError."""
    return '__import__("piplite").install()\n'
