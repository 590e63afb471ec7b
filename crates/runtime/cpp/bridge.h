#pragma once

// Everything that the bridge's Rust side declares.
#include "data_map.h"
#include "delegate_options.h"
#include "log.h"
#include "method.h"
#include "program.h"
#include "registry.h"
#include "threads.h"
#include "tracer.h"
