// SPDX-License-Identifier: Apache-2.0
// Linking bare-metal images, for who measures them part by part.
#pragma once

#include "compiler/codegen/c/micro_image.h"
#include "compiler/codegen/c/micro_program.h"
