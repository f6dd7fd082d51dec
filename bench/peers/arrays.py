# SPDX-License-Identifier: Apache-2.0
"""Arrays of the host that ours and the peers share: dense, from a line of cache on."""
import ctypes

LINE = 64


class Array:
    """elem: a type's name as Tilewright has it; zeros at first."""

    def __init__(self, elem, shape, size):
        self.elem, self.shape, self.bytes = elem, shape, size
        self.block = ctypes.create_string_buffer(size + LINE)
        self.offset = -ctypes.addressof(self.block) % LINE
        self.address = ctypes.addressof(self.block) + self.offset

    def poison(self):
        """NaN, or -1."""
        ctypes.memset(self.address, 0xff, self.bytes)

    def content(self):
        return ctypes.string_at(self.address, self.bytes)

    def like(self):
        return Array(self.elem, self.shape, self.bytes)
