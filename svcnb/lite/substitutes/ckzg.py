"""Substitute for ckzg, which computes commitments of blob transactions (EIP-4844) and has no build for WebAssembly."""

from typing import NoReturn


def _absent(*_args: object, **_kwargs: object) -> NoReturn:
    raise NotImplementedError(
        "blob transactions (EIP-4844) require ckzg, which has no build for browsers: use a local Python"
    )


blob_to_kzg_commitment = compute_blob_kzg_proof = compute_cells_and_kzg_proofs = load_trusted_setup = _absent
