#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PART=forms of make bench-gpu: one text, several plans. Row sums as the whole row in registers, streamed 1024 or 2048 columns
at a time, and with a scalar carried from one to the next, each by both entries (main: X one element off 16 bytes);
residual_layernorm with keep=preserve and keep=expensive-only. One table with time, registers, shared and local bytes,
barriers and depth; `model` is the plan that the model picks, its regret the pick's time over the best form's. Every form
must be legal and right, the model's pick without local bytes. N=cases limits a run, BUDGET=seconds ends it; a later one goes
on. TARGET=cpu or any caps name with TIME=no: figures alone, without a device."""
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare
from compare import ROOT, START, TARGET, setting
from bench.peers import ours

TIME = setting("TIME", "yes") == "yes"


def streamed(trip):
    """The row by trips of trip * 1024 columns, or (trip 0) all at once."""
    def pins(rows, width):
        outer = f"loop {width // (1024 * trip)}, " if trip else ""
        inner = trip or width // 1024
        return [f"frame f: r = grid {rows} ; w = {outer}{f'slot {inner}, ' if inner > 1 else ''}sub 8, lane 32, slot 4"]
    return pins


def carried(trip):
    """Each trip of trip * 1024 columns folded to one number, which a scalar carries on."""
    def pins(rows, width):
        return [f"frame f: r = grid {rows} ; w = loop {width // (1024 * trip)}, sub 8, lane 32, slot {4 * trip}", "value sum.1: fold weight"]
    return pins


SUMS = {"model": lambda r, w: [], "whole row": streamed(0), "C=1024": streamed(1), "C=2048": streamed(2),
        "C=1024, scalar carry": carried(1), "C=2048, scalar carry": carried(2)}
KEEPS = {"model": lambda r, w: [], "keep=preserve": lambda r, w: ["keep=preserve"],
         "keep=expensive-only": lambda r, w: ["keep=expensive-only"]}
HEAD = (f"{'kernel':19}{'type':5}{'shape':>12}  {'form':22}{'entry':10}{'us':>9}{'registers':>10}{'shared':>8}{'local':>7}"
        f"{'barriers':>9}{'depth':>7}  oracle")


def cases():
    """kernel, type, rows, width, form, pins, elements that X is shifted by"""
    for elem in ("f16", "bf16"):
        for rows in (3, 128):
            for width in (8192, 16384):
                for form, pins in SUMS.items():
                    for shift in (0, 1):
                        yield "row_sum", elem, rows, width, form, pins(rows, width), shift
    for rows, width in ((128, 1024), (64, 4096), (4096, 16384)):
        for form, pins in KEEPS.items():
            yield "residual_layernorm", "f32", rows, width, form, pins(rows, width), 0


def figure(words, name):
    """Of the derived figures, "depth sum.1 17, barriers 1": the greatest with that name."""
    found = [int(part.split()[-1]) for part in words.replace(";", ",").split(",") if part.split() and part.split()[0] == name]
    return max(found) if found else 0


def measure(tw, kernel, elem, rows, width, form, pins, shift):
    file = os.path.join(ROOT, "kernels", kernel + ".tile")
    compiled = tw.compile(file, TARGET, {"T": elem}, {"R": rows, "W": width}, pins=pins, build=TIME)
    record = {"kernel": kernel, "type": elem, "shape": f"{rows}x{width}", "form": form, "plan": compiled.text("plan"),
              "barriers": figure(compiled.words, "barriers"), "depth": figure(compiled.words, "depth"), "entry": "-",
              "oracle": "not run", "median_ns": None}
    try:
        if TIME:
            place = compare.OnHost(compiled, shift)
            record["entry"] = place.call.entry()
            place.call.run()
            record["oracle"] = ours.oracle_says(place.judge)
            record.update(place.time())
            code = [row for row in compiled.codes() if f"_{record['entry']}" in row[0]] or compiled.codes()
            record.update(registers=max((row[1] for row in code), default=None), shared=max((row[2] for row in code), default=None),
                          local=max((row[3] for row in code), default=None))
    finally:
        compiled.release()
    record["ok"] = not TIME or record["oracle"].startswith("right") and not (form == "model" and record["local"])
    return record


def line(r):
    us = f"{r['median_ns'] / 1000:.2f}" if r["median_ns"] else "-"
    code = [str(r.get(name)) if r.get(name) is not None else "-" for name in ("registers", "shared", "local")]
    return (f"{r['kernel']:19}{r['type']:5}{r['shape']:>12}  {r['form']:22}{r['entry']:10}{us:>9}{code[0]:>10}{code[1]:>8}{code[2]:>7}"
            f"{r['barriers']:>9}{r['depth']:>7}  {'' if r['ok'] else 'FAIL '}{r['oracle']}")


def regrets(records):
    """The model's pick against the best form of the same case and entry."""
    groups = {}
    for r in records:
        if r["median_ns"]:
            groups.setdefault((r["kernel"], r["type"], r["shape"], r["entry"]), {})[r["form"]] = r["median_ns"]
    for (kernel, elem, shape, entry), forms in groups.items():
        if "model" in forms:
            best = min(forms, key=forms.get)
            yield f"{kernel} {elem} {shape} {entry}: best {best}, the model's pick takes {forms['model'] / forms[best]:.2f} of it"


def main():
    if TARGET.startswith("cuda"):
        compare.open_driver()
    tw, failed, left = ours.Tilewright(), [], []
    kept = compare.Kept(compare.STATE, "forms-" + TARGET.replace(":", "-"), tw.path)
    print(f"forms on {TARGET}\n{HEAD}", flush=True)
    for case in list(cases())[:int(setting("N", "1000"))]:
        name = " ".join(str(word) for word in case)
        if name not in kept.records:
            if time.monotonic() - START > float(setting("BUDGET", "1e9")):
                left.append(name)
                continue
            try:
                kept.add(name, measure(tw, *case))
            except ours.Failed as why:
                print(f"{case[0]:19}{case[1]:5}{case[2]}x{case[3]}  {case[4]}: FAIL {str(why)[:400]}", flush=True)
                failed.append(name)
                continue
        record = kept.records[name]
        print(line(record), flush=True)
        if not record["ok"]:
            failed.append(name)
    for words in regrets(kept.records.values()):
        print(words)
    print(f"forms: {len(failed)} failed, {len(left)} left for another call", flush=True)
    if TIME and TARGET == "cuda" and not failed and not left:
        print(f"forms: {compare.publish_alone('forms', tw, list(kept.records.values()))}", flush=True)
    return 1 if failed or left else 0


if __name__ == "__main__":
    sys.exit(main())
