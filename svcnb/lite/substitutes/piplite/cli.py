"""The line magic ``%pip`` of the kernel."""


async def get_transformed_code(_arguments: list[str]) -> str:
    """Returns the code that the kernel runs instead of ``%pip``."""
    return '__import__("piplite").install()\n'
