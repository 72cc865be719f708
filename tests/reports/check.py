#!/usr/bin/env python3
"""Holds the reports of `rollgate check` against what their readers expect.

usage: check.py ROLLGATE        (needs jsonschema and junitparser from PyPI)

SARIF against its published schema (sarif-2.1.0.schema.json beside this file), and with a region that
lies in the file; JUnit as CI systems read it, with a test case for each object; GitHub's workflow
commands line by line; JSON for its counts.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
import junitparser

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"


def report(rollgate, form):
    done = subprocess.run([rollgate, "check", "-o", form, str(EXAMPLES)], capture_output=True, text=True)
    assert done.returncode == 1, f"{form}: exit {done.returncode}, {done.stderr}"
    return done.stdout


def main(rollgate):
    counts = json.loads(report(rollgate, "json"))["summary"]
    assert counts["accepted"] and counts["refused"], counts

    sarif = json.loads(report(rollgate, "sarif"))
    schema = json.loads((HERE / "sarif-2.1.0.schema.json").read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(sarif)
    results = sarif["runs"][0]["results"]
    assert len(results) == counts["refusals"] + counts["warnings"], (len(results), counts)
    for result in results:
        place = result["locations"][0]["physicalLocation"]
        file = pathlib.Path(place["artifactLocation"]["uri"].removeprefix("file://"))
        lines = file.read_text(encoding="utf-8-sig").splitlines()
        region = place["region"]
        assert 1 <= region["startLine"] <= len(lines), (file, region)
        assert 1 <= region["startColumn"] <= len(lines[region["startLine"] - 1]), (file, region)

    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(report(rollgate, "junit"))
        file.flush()
        suites = list(junitparser.JUnitXml.fromfile(file.name))
    cases = [case for suite in suites for case in suite]
    assert len(cases) >= counts["accepted"] + counts["refused"], len(cases)
    failed = [case for case in cases if any(isinstance(r, junitparser.Failure) for r in case.result)]
    assert len(failed) == counts["refused"], (len(failed), counts)

    commands = report(rollgate, "github").splitlines()
    annotation = re.compile(r"::(error|warning) file=[^,]+,line=\d+,endLine=\d+,col=\d+(,endColumn=\d+)?(,title=[^:]*)?::.+")
    bad = [line for line in commands if line.startswith("::") and not annotation.match(line)]
    assert commands and not bad, bad
    print(f"{len(results)} SARIF results, {len(cases)} JUnit cases, {len(commands)} workflow commands hold")


if __name__ == "__main__":
    main(*sys.argv[1:])
