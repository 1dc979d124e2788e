"""Where the files of real data sets are searched: a setting of the process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROUTES = ("directory", "address", "wheel")
DIRECTORIES = ("data", "../shared/data")
# What was fetched, by route.
DOWNLOADS = Path("results/downloads")


@dataclass
class Settings:
    """Routes that are allowed, in order, and the directories of the first."""

    directories: tuple[str, ...] = DIRECTORIES
    routes: tuple[str, ...] = ROUTES

    def places(self) -> list[tuple[str, Path]]:
        """Folders to search, with their routes, in order."""
        found = []
        for route in self.routes:
            folders = self.directories if route == "directory" else [DOWNLOADS / route]
            found += [(route, Path(folder).expanduser()) for folder in folders]
        return found


settings = Settings()


def look_in(directories=DIRECTORIES, routes=ROUTES) -> None:
    """Set directories and routes; a job does so once, from the configuration."""
    settings.directories, settings.routes = tuple(directories), tuple(routes)
