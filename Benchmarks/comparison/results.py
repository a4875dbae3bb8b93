"""What was measured, in one JSON file: written after each section, so that a run can be stopped and taken up again."""

import json
import os
import statistics


class Results:
    def __init__(self, path):
        self.path = path
        self.sections = {}
        if os.path.exists(path):
            with open(path) as file:
                self.sections = json.load(file)["sections"]

    def save(self):
        with open(self.path + ".new", "w") as file:
            json.dump({"sections": self.sections}, file, indent=1, ensure_ascii=False)
        os.replace(self.path + ".new", self.path)

    def is_done(self, section, size, code):
        """Whether the section was measured with this very code at this size."""
        measured = self.sections.get(section, {})
        return measured.get("size") == size and measured.get("code") == code

    def of_size(self, size):
        """Only what was measured at this size: figures of different sizes do not belong into one table."""
        found = Results(self.path)
        found.sections = {name: section for name, section in self.sections.items() if section["size"] == size}
        return found

    def values(self, section, contestant, metric):
        return self.sections.get(section, {}).get("results", {}).get(contestant, {}).get(metric, [])

    def median(self, section, contestant, metric):
        values = self.values(section, contestant, metric)
        return statistics.median(values) if values else None
