#pragma once

// The way in for other programs: what the installed package promises.
//
//     grm::Model model = grm::load("runs/payments/grm/20260131T120000-1000");
//     const grm::Graph graph = grm::make_graph(edge_index, x);  // tensors [2, m] and [n, d]
//     const grm::Prediction answer = model.predict(graph);
//     std::cout << answer.classes << answer.probabilities << answer.spread;
//
// Device, memory limit and messages are those of the thread's grm::Context, which the caller may own;
// the number of threads is one for the process (grm/core/context.h, grm/core/threads.h).
//
// Mistakes of the caller are thrown as grm::Error with a kind and a message.
#include "grm/core/context.h"
#include "grm/core/error.h"
#include "grm/core/threads.h"
#include "grm/data/own_data.h"
#include "grm/train/explain_runs.h"
#include "grm/train/predict.h"
#include "grm/version.h"
