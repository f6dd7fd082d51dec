# SPDX-License-Identifier: Apache-2.0
# The front door. CMake and Ninja do the work (CMakePresets.json); tools/setup installs what is missing.
# K PLANS TARGET TARGETS PIN PART N THREADS BUDGET reach the scripts as environment variables; TW_TOOL is the tool to run.
.PHONY: all release demo test verify faults bits exhaustive bench-cpu bench-gpu bench-plan bench-calls retune calibrate-check check clean
.NOTPARALLEL:

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
BUILD := $(ROOT)/build/release
export TW_TOOL := $(BUILD)/tilewright
export K PLANS TARGET TARGETS PIN PART N THREADS BUDGET

all: release

# Tests need packages that the tool does not: a first build leaves them out, a later one keeps them in.
release:
	@start=$$(date +%s); tools/setup demo; installed=$$(date +%s); \
	[ -e $(BUILD)/build.ninja ] || cmake --preset release -DTW_TESTS=OFF >/dev/null; \
	ninja -C $(BUILD) --quiet tilewright tilewright_shared; built=$$(date +%s); \
	echo "set-up: packages $$((installed - start)) s, build $$((built - installed)) s"
	@echo "tool:   build/release/tilewright"

test:
	@start=$$(date +%s); tools/setup test; installed=$$(date +%s); \
	cmake --preset release -DTW_TESTS=ON >/dev/null; \
	ninja -C $(BUILD) --quiet; built=$$(date +%s); \
	echo "set-up: packages $$((installed - start)) s, build $$((built - installed)) s"
	ctest --test-dir $(BUILD) --output-on-failure -j 2

demo verify faults bits exhaustive retune: release
	@tools/call tools/$@

bench-cpu bench-gpu: release
	@tools/call $(subst bench-,bench/,$@)/run

calibrate-check: release
	@tools/call tools/calibrate

bench-plan bench-calls: release
	@ninja -C $(BUILD) --quiet $(subst -,_,$@)
	@$(BUILD)/$(subst -,_,$@)

check:
	@tools/setup test
	@tools/check all

clean:
	rm -rf build

SHELL := /bin/sh
.SHELLFLAGS := -ec
