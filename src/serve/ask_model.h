#pragma once

#include <string>

#include "serve/body.h"
#include "serve/model_worker.h"

// The two questions that a model answers, for the service and the studio alike.
namespace grm::serve {

/// The answer of `grm predict` for the data of the request, as JSON or CSV.
HttpReply ask_prediction(ModelWorker& worker, const HttpRequest& request, const Body& body);
/// The answer of `grm explain --json` for one of its items.
HttpReply ask_explanation(ModelWorker& worker, const HttpRequest& request, const Body& body);

/// What one must know to ask this model, as JSON text.
std::string model_json(const ModelWorker& worker);

}  // namespace grm::serve
