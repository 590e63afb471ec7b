"""Weights of a folder: one ``.safetensors`` file, or several with an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources.fields import Fields
from nearside_export.sources.model import QuantisedBlocks

if TYPE_CHECKING:
    import torch

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
FLOATS = {"F64", "F32", "F16", "BF16"}


class SafeTensors:
    """Tensors of safetensors files, each read when it is asked for."""

    def __init__(self, files: list[Path]) -> None:
        self._handles = {}
        self._opened = {}
        for path in files:
            handle = _open(path, "np")
            for name in handle.keys():  # noqa: SIM118  no mapping
                if name in self._handles:
                    raise SourceError(
                        f"{path}: tensor {name!r} is in another shard too. Fetch the model again"
                    )
                self._handles[name] = (path, handle)

    @classmethod
    def of_folder(cls, folder: Path) -> SafeTensors:
        """Open a model folder's weights; `SourceError` says what is missing and what to do."""
        if (folder / INDEX).exists():
            return cls._sharded(folder)
        if (folder / SINGLE).exists():
            return cls([folder / SINGLE])
        other = sorted(p.name for p in folder.iterdir() if p.suffix in {".bin", ".pt", ".pth"})
        if other:
            raise SourceError(
                f"{folder} has its weights in {other[0]}, which can run code when it is loaded. "
                f"Save the model as {SINGLE} first (transformers: save_pretrained)"
            )
        raise SourceError(
            f"{folder / SINGLE} is missing, and so is {INDEX}. Copy the model's weights there"
        )

    @classmethod
    def _sharded(cls, folder: Path) -> SafeTensors:
        index = Fields.read(folder / INDEX)
        places = index.child("weight_map")
        shards = []
        for tensor in places:
            shard = places.text(tensor)
            if Path(shard).name != shard or shard in ("", ".", ".."):
                raise SourceError(
                    f"{places.name(tensor)} is {shard!r}, but must be a file beside the index"
                )
            shards.append(shard)
        opened = cls([folder / shard for shard in dict.fromkeys(shards)])
        for tensor in places:
            if tensor not in opened._handles:
                raise SourceError(
                    f"{folder / places.text(tensor)} has no tensor {tensor!r}, which {INDEX} says "
                    "is there: it is of another version. Fetch all shards again"
                )
        return opened

    def names(self) -> list[str]:
        """All names."""
        return list(self._handles)

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor that exists."""
        return tuple(self._handles[name][1].get_slice(name).get_shape())

    def load(self, name: str) -> torch.Tensor:
        """Read a tensor as f32."""
        import torch

        path, handle = self._handles[name]
        kind = handle.get_slice(name).get_dtype()
        if kind not in FLOATS:
            raise UnsupportedError(
                f"{path}: tensor {name!r} is of type {kind}: the weights are quantised already. "
                "Give the full-precision folder or a GGUF file"
            )
        tensor = self._torch(path).get_tensor(name).to(torch.float32)
        return finite(tensor, name, path)

    def counter(self, name: str) -> torch.Tensor | None:
        """Read a tensor of whole numbers, such as batch norm's counters, as it is; else null."""
        path, handle = self._handles[name]
        whole = handle.get_slice(name).get_dtype() == "I64"
        return self._torch(path).get_tensor(name) if whole else None

    def _torch(self, path: Path):  # noqa: ANN202  the type has no public name
        """Open a file again for its tensors; `_handles` is for what its header says."""
        if path not in self._opened:
            self._opened[path] = _open(path, "pt")
        return self._opened[path]

    def blocks(self, name: str) -> QuantisedBlocks | None:
        """Nothing: these files are not quantised."""
        return None


def finite(tensor: torch.Tensor, name: str, path: Path) -> torch.Tensor:
    """Give ``tensor`` back, or `SourceError` where a value is NaN or infinite."""
    import torch

    if not bool(torch.isfinite(tensor).all()):
        raise SourceError(
            f"{path}: tensor {name!r} has values that are NaN or infinite: the file is damaged, or "
            "training went wrong. Fetch it again"
        )
    return tensor


def _open(path: Path, framework: Literal["np", "pt"]):  # noqa: ANN202  the type has no public name
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, framework=framework)
    except FileNotFoundError:
        raise SourceError(f"{path} is missing. Copy all shards of the model") from None
    except (SafetensorError, OSError) as error:
        raise SourceError(f"{path} is damaged or cut short ({error}). Fetch it again") from error
