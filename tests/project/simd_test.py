"""The program runs on CPUs without AVX: only what is chosen at run time uses newer instructions."""

import os
import re
import subprocess
import unittest

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
NEWER = re.compile(r"%[yz]mm|\tv[a-z0-9]+ .*%[xk](mm)?\d")
# How the steps of tiles built for AVX2 and AVX-512 are named, whatever they do; and the checksum of archives.
CHOSEN_AT_RUN_TIME = ("xsimd::fma3<xsimd::avx2>", "xsimd::avx512bw", "crc32_by_wide_product")


class Instructions(unittest.TestCase):
    def test_only_what_is_chosen_uses_newer_instructions(self):
        listing = subprocess.run(
            ["objdump", "-d", "-C", "--no-show-raw-insn", os.environ["ATTN_CLI"]],
            check=True, capture_output=True, text=True).stdout
        function, functions, newer = "", 0, set()
        for line in listing.splitlines():
            heading = FUNCTION.match(line)
            if heading:
                function = heading.group(1)
                functions += 1
            elif "mm" in line and NEWER.search(line):
                newer.add(function)
        self.assertGreater(functions, 1000, "the listing is not that of the whole program")
        wrong = [name for name in newer if not any(part in name for part in CHOSEN_AT_RUN_TIME)]
        self.assertEqual(wrong, [])
        for part in CHOSEN_AT_RUN_TIME:
            self.assertTrue(any(part in name for name in newer), part)


if __name__ == "__main__":
    unittest.main()
