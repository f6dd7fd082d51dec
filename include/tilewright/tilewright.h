/* SPDX-License-Identifier: Apache-2.0
 * Tilewright: all of the public interface. examples/embed.c shows a whole program.
 */
#ifndef TILEWRIGHT_TILEWRIGHT_H
#define TILEWRIGHT_TILEWRIGHT_H

#include "tilewright/build.h"
#include "tilewright/compile.h"
#include "tilewright/context.h"
#include "tilewright/export.h"
#include "tilewright/judge.h"
#include "tilewright/program.h"
#include "tilewright/run.h"
#include "tilewright/tune.h"
#include "tilewright/types.h"

#endif
