"""Implementation of the line magic ``%pip``, which the kernel calls."""


async def get_transformed_code(_arguments: list[str]) -> str:
    """Returns the code that the kernel runs instead of ``%pip``."""
    return '__import__("piplite").install()\n'
