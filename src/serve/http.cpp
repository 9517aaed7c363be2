#include "serve/http.h"

#include "core/json.h"

namespace grm::serve {

HttpReply error_reply(int status, const std::string& kind, const std::string& message) {
  HttpReply reply;
  reply.status = status;
  reply.why = message.substr(0, 300);
  const nlohmann::ordered_json error = {{"kind", kind}, {"message", message}};
  reply.body = json_text(nlohmann::ordered_json{{"error", error}}) + "\n";
  return reply;
}

std::string HttpRequest::header(const std::string& lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? "" : found->second;
}

std::string HttpRequest::param(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

}  // namespace grm::serve
