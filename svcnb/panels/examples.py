"""Example actions that the editor offers."""

from __future__ import annotations

from svcnb.protocol.vocabulary import Vocabulary

FIRST = "async function main({ n }) {\n  return n + 1;\n}\n"
FIRST_PARAMS = '{ "n": 41 }'


def examples(vocabulary: Vocabulary) -> list[dict[str, str]]:
    """Returns examples, each with its name, source and parameters (JSON text).

    The sources use the names that ``vocabulary`` contains, because services have different names for functions.
    """
    space = f"{vocabulary.namespace}.Actions"
    return [
        {"name": "Add one to a number", "source": FIRST, "params": FIRST_PARAMS},
        {
            "name": "Sign a message with a wallet",
            "source": (
                "async function main({ wallet, message }) {\n"
                f"  const key = await {space}.{vocabulary.private_key_function}({{ pkpId: wallet }});\n"
                "  const signer = new ethers.Wallet(key);\n"
                "  return { message, address: signer.address, signature: await signer.signMessage(message) };\n"
                "}\n"
            ),
            "params": '{ "wallet": "", "message": "hello" }',
        },
        {
            "name": "Sign a message with the action's own key",
            "source": (
                "async function main({ message }) {\n"
                f"  const key = await {space}.{vocabulary.action_private_key_function}();\n"
                "  const signer = new ethers.Wallet(key);\n"
                "  return { message, address: signer.address, signature: await signer.signMessage(message) };\n"
                "}\n"
            ),
            "params": '{ "message": "hello" }',
        },
    ]
