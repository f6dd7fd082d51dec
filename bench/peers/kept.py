# SPDX-License-Identifier: Apache-2.0
"""What a benchmark has measured already, so that a later call goes on behind it."""
import hashlib
import json
import os


class Kept:
    """Records by name, of this library (and of what `also` says: peers, their versions), in FOLDER/PART.json."""

    def __init__(self, folder, part, library, also=""):
        self.path = os.path.join(folder, part + ".json")
        with open(library, "rb") as file:
            self.key = hashlib.sha256(file.read() + also.encode()).hexdigest()
        self.records = {}
        try:
            with open(self.path, encoding="utf-8") as file:
                kept = json.load(file)
            self.records = kept["records"] if kept["library"] == self.key else {}
        except (OSError, ValueError, KeyError):
            pass

    def add(self, name, record):
        self.records[name] = record
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({"library": self.key, "records": self.records}, file)
        os.replace(self.path + ".new", self.path)
