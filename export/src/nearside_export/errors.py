"""The two kinds of failure a user can meet, and the exit code of each."""


class ExportError(Exception):
    """The work failed: the message says what went wrong and what to do. Exit code 1."""

    exit_code = 1


class UsageError(ExportError):
    """The command line asks for something that does not exist. Exit code 2."""

    exit_code = 2


class QualityError(ExportError):
    """The exported program is further from eager fp32 than its gate allows."""


class PackageError(ExportError):
    """A package on disk is missing, incomplete or not what its manifest says."""


class DiskError(ExportError):
    """A place can't be written to, or has too little room."""


class SourceError(ExportError):
    """A model's files are missing, damaged, or not what its configuration says."""


class UnsupportedError(ExportError):
    """The model needs something that this exporter can't give it, and says so."""


class MethodError(ExportError):
    """A method of a program cannot be loaded or run."""


class LibraryError(ExportError):
    """A delegate's own packages or libraries are missing, or of another version."""
