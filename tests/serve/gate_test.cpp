// Who is let in.
#include "serve/gate.h"

#include <gtest/gtest.h>

namespace grm::serve {
namespace {

HttpRequest from(const std::string& host) {
  HttpRequest request;
  request.method = "GET";
  request.headers["host"] = host;
  return request;
}

TEST(Gate, NamesOfLoopbackAlone) {
  Gate gate;
  gate.hosts = loopback_hosts(8080);
  EXPECT_EQ(gate.check(from("127.0.0.1:8080")).status, 200);
  EXPECT_EQ(gate.check(from("LOCALHOST:8080")).status, 200);
  EXPECT_EQ(gate.check(from("[::1]:8080")).status, 200);
  EXPECT_EQ(gate.check(from("127.0.0.1")).status, 421);
  EXPECT_EQ(gate.check(from("localhost.evil.example:8080")).status, 421);
  EXPECT_EQ(gate.check(from("")).status, 421);
}

TEST(Gate, PagesOfOtherOriginsAreRefused) {
  const Gate gate;
  HttpRequest request = from("127.0.0.1:8080");
  request.headers["origin"] = "http://127.0.0.1:8080";
  EXPECT_EQ(gate.check(request).status, 200);
  for (const char* origin : {"null", "https://127.0.0.1:8080", "http://127.0.0.1:8081"}) {
    request.headers["origin"] = origin;
    EXPECT_EQ(gate.check(request).status, 403) << origin;
  }
  request.headers.erase("origin");
  request.headers["sec-fetch-site"] = "cross-site";
  EXPECT_EQ(gate.check(request).status, 403);
}

TEST(Gate, TheTokenMustBeWhole) {
  Gate gate;
  gate.token = random_token();
  gate.cookie = "grm";
  EXPECT_EQ(gate.token.size(), 64u);
  EXPECT_NE(gate.token, random_token());
  HttpRequest request = from("h");
  EXPECT_EQ(gate.check(request).status, 401);
  for (const std::string& wrong : {std::string("Bearer "), "Bearer " + gate.token.substr(1),
                                   gate.token, "Bearer " + gate.token + gate.token}) {
    request.headers["authorization"] = wrong;
    EXPECT_EQ(gate.check(request).status, 401) << wrong;
  }
  request.headers["authorization"] = "Bearer " + gate.token;
  EXPECT_EQ(gate.check(request).status, 200);
  request.headers.erase("authorization");
  request.headers["cookie"] = "a=b; grm=" + gate.token;
  EXPECT_EQ(gate.check(request).status, 200);
  EXPECT_FALSE(same_secret("", ""));
}

}  // namespace
}  // namespace grm::serve
