# SPDX-License-Identifier: Apache-2.0
"""One case: ours and its peers on the same arrays. Prepared (planned, compiled, captured, judged by the oracle) at any time,
beside other cases; measured when nothing else runs, and without compiling anything then."""
import ctypes
import importlib.util
import os
import time

import cases as table
import protocol
from machine import ROOT, SETS, TARGET, setting
from bench.peers import ours, torch_peers

FAMILIES = ("torch", "torch.compile", "triton")


def find_peers():
    """The peers' module: bench/peers/torch_peers.py, or PEERS_FILE with the same functions."""
    path = os.environ.get("PEERS_FILE")
    if not path:
        return torch_peers
    spec = importlib.util.spec_from_file_location("peers_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


peers = find_peers()


class OnTensors:
    """A case's arrays as tensors, and our call on them."""

    def __init__(self, machine, compiled, case, seed):
        torch, place = machine.torch, machine.place
        self.torch, self.compiled = torch, compiled
        generator = torch.Generator(device=place).manual_seed(seed)
        self.arrays = {}
        for k, arg in enumerate(compiled.args):
            kind, shape = torch_peers.dtype(compiled.elem(k)), compiled.shape(k)
            if arg.role != ours.IN:
                tensor = torch.zeros(shape, dtype=kind, device=place)
            elif kind.is_floating_point:
                tensor = torch.randn(shape, generator=generator, device=place, dtype=torch.float32).to(kind)
            else:
                bound = case.dims[0] if case.kernel == "embedding" else case.dims[-1]
                tensor = torch.randint(0, bound, shape, generator=generator, device=place).to(kind)
            self.arrays[arg.name.decode()] = tensor
        self.addresses = [t.data_ptr() for t in self.arrays.values()]
        machine.wait()
        where = {"device": 0, "stream": machine.stream.cuda_stream} if place == "cuda" else {}
        self.call = compiled.call(self.addresses, **where)

    def results(self):
        return [t for arg, t in zip(self.compiled.args, self.arrays.values()) if arg.role != ours.IN]

    def judge(self):
        host = [t.detach().cpu().contiguous() for t in self.arrays.values()]
        addresses = [t.data_ptr() for t in host]
        before = [a if arg.role == ours.IN else None for a, arg in zip(addresses, self.compiled.args)]
        return self.compiled.judge(before, addresses)

    def copies(self):
        return [t.clone() for t in self.results()]

    def same(self, copies):
        """Bit for bit."""
        byte = self.torch.uint8
        return all(self.torch.equal(a.reshape(-1).view(byte), b.reshape(-1).view(byte)) for a, b in zip(self.results(), copies))


class OnHost:
    """Without torch: arrays of the host, which the library copies to a device if there is one, and times itself. The first
    is shifted by some elements."""

    def __init__(self, compiled, shift=0, arrays=None):
        """arrays: those of another, with the same kernel and dims."""
        self.compiled = compiled
        if arrays:
            self.blocks, self.addresses = arrays.blocks, arrays.addresses
            self.call = compiled.call(self.addresses)
            return
        self.blocks = [ctypes.create_string_buffer(compiled.bytes(k) + 128) for k in range(len(compiled.args))]
        self.addresses = [(ctypes.addressof(b) + 63) // 64 * 64 for b in self.blocks]
        self.addresses[0] += shift * compiled.lib.tw_elem_size(compiled.args[0].elem)
        for k, arg in enumerate(compiled.args):
            if arg.role == ours.IN:
                compiled.fill(k, k + 1, self.addresses[k])
        self.call = compiled.call(self.addresses)
        self.arrays = {}

    def time(self):
        t = self.compiled.time([self.call])
        return {"median_ns": t.median_ns, "samples_ns": list(t.batch_ns)[:t.batches], "host_ns": list(t.host_ns)[:t.batches],
                "calls": t.calls, "cold_ns": t.cold_ns}

    def judge(self):
        before = [a if arg.role == ours.IN else None for a, arg in zip(self.addresses, self.compiled.args)]
        return self.compiled.judge(before, self.addresses)

    def outputs(self):
        return [(k, self.addresses[k]) for k, arg in enumerate(self.compiled.args) if arg.role != ours.IN]

    def copies(self):
        return [ctypes.string_at(address, self.compiled.bytes(k)) for k, address in self.outputs()]

    def same(self, copies):
        return self.copies() == copies


class ByLibrary:
    """Ours as the library times it, where there is no torch: all at once, when it would warm up."""

    def __init__(self, place):
        self.place, self.taken = place, None

    def warm(self):
        self.taken = self.place.time()

    def sample(self):
        pass

    def record(self):
        return self.taken


def difference(a, b):
    """Greatest difference over the greatest value, in f64."""
    a, b = a.double(), b.double().reshape(a.shape)
    top = b.abs().max().item() or 1.0
    return (a - b).abs().max().item() / top


def work(case, compiled):
    """Bytes that must move, f32 operations that a product takes."""
    moved = sum(compiled.bytes(k) for k in range(len(compiled.args)))
    if case.kernel == "embedding":
        moved = 2 * compiled.bytes(len(compiled.args) - 1)
    m, n, k = case.dims if case.kernel == "gemm" else (0, 0, 0)
    return moved, 2 * m * n * k


class Contest:
    """at(name) is called before each contender's turn, so that whoever watches knows whose a crash is. skip: {family: why}."""

    def __init__(self, case, tw, machine, skip, at):
        self.case, self.machine, self.at = case, machine, at
        self.graphs, self.notes, self.judged = {}, dict(skip), None
        plan, source = table.plan_of(case)
        self.record = {"kernel": case.kernel, "type": case.elem, "shape": table.shape(case), "wanted": case.wanted, "plan_from": source}
        begin = time.monotonic()
        at("ours")
        file = os.path.join(ROOT, "kernels", case.kernel + ".tile")
        self.compiled = tw.compile(file, TARGET, table.types(case), table.dims(case), plan=plan)
        self.record.update(build_ns=(time.monotonic() - begin) * 1e9, plan=self.compiled.text("plan"), figures=self.compiled.words,
                           codes=self.compiled.codes())
        self.record["bytes"], self.record["flops"] = work(case, self.compiled)
        try:
            self.places = [OnTensors(machine, self.compiled, case, k + 1) for k in range(SETS)] if machine.torch else [
                OnHost(self.compiled)]
            self.judge()
            self.join_peers(skip)
            machine.wait()
        except BaseException:
            self.close()
            raise
        self.record["prepare_s"] = time.monotonic() - begin

    def timer(self, step):
        return protocol.Graph(self.machine.torch, self.machine.stream, step) if self.machine.place == "cuda" else protocol.Calls(step)

    def judge(self):
        """Ours runs once and is judged; what it wrote is kept, to be compared with what the measured runs write."""
        place, places = self.places[0], self.places
        if self.machine.torch or TARGET == "cpu":
            self.graphs["ours"] = [self.timer(lambda k: places[k % len(places)].call.run())]
        else:
            place.call.run()
            self.graphs["ours"] = [ByLibrary(place)]
        self.machine.wait()
        begin = time.monotonic()
        self.record.update(oracle=ours.oracle_says(place.judge), entry=place.call.entry(), oracle_s=time.monotonic() - begin)
        self.judged = place.copies()

    def join_peers(self, skip):
        for name, fn in peers.contenders(self.case.kernel, [p.arrays for p in self.places], skip, self.at):
            family = name.split()[0]
            try:
                if isinstance(fn, Exception):
                    raise fn
                graph = self.timer(lambda k, fn=fn: fn[k % len(fn)]())
                graph.words, graph.result = name, fn[0]()
                self.graphs.setdefault(family, []).append(graph)
            except Exception as why:  # a peer that fails is told, and the case goes on
                self.notes[name] = f"failed: {type(why).__name__}: {str(why)[:200]}"
        for name, why in peers.absent.items():
            if name not in self.graphs and (name == "triton" or (name == "cuBLAS") == (self.case.kernel == "gemm")):
                self.notes.setdefault(name, f"absent: {why}")

    def best_of(self, name):
        """Of several configurations the one that a short look finds fastest."""
        self.at(name)
        graphs = self.graphs[name]
        return graphs[0] if len(graphs) == 1 else min(graphs, key=lambda graph: graph.quick())

    def measure(self):
        begin, record = time.monotonic(), self.record
        record["before"] = self.machine.nvml.state()
        turn = [(name, self.best_of(name)) for name in self.graphs]
        for name, graph in turn:
            self.at(name)
            graph.warm()
        for k in range(protocol.SAMPLES):
            for name, graph in turn[k % len(turn):] + turn[:k % len(turn)]:
                self.at(name)
                graph.sample()
        record["after"] = self.machine.nvml.state()
        record["contenders"] = {name: graph.record() for name, graph in turn}
        for name, graph in turn:
            if name != "ours":
                record["contenders"][name]["configuration"] = graph.words
                if self.machine.torch and graph.result is not None:
                    record["contenders"][name]["difference"] = difference(self.places[0].results()[0], graph.result)
        self.machine.wait()
        record["measured_as_judged"] = self.places[0].same(self.judged)
        if not record["measured_as_judged"]:
            record["oracle"] = ours.oracle_says(self.places[0].judge)
        record.update(notes=self.notes, measure_s=time.monotonic() - begin)
        return record

    def close(self):
        self.graphs, self.places, self.judged = {}, [], None
        self.compiled.release()
        self.machine.empty()
