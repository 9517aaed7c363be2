// Which heads of requests are let in, and what is left of them. Expected statuses are those of RFC 9110
// and RFC 6585.
#include "serve/http_head.h"

#include <gtest/gtest.h>

namespace grm::serve {
namespace {

CheckedHead checked(const std::string& head) {
  return check_head(head, HttpLimits());
}

TEST(HttpHead, KeepsWhatIsKnownAndDropsTheRest) {
  const CheckedHead head = checked(
      "POST /v1/predict?model=a HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\nRange: bytes=0-1\r\n"
      "Accept-Encoding: br\r\nContent-TYPE:  application/json \r\n\r\n");
  EXPECT_EQ(head.refused, 0) << head.why;
  EXPECT_EQ(head.text,
            "POST /v1/predict?model=a HTTP/1.1\r\nhost: h\r\ncontent-length: 12\r\n"
            "content-type: application/json\r\n\r\n");
  EXPECT_EQ(head.body, 12u);
  EXPECT_TRUE(head.keep);
}

TEST(HttpHead, ClosesWhereTheClientWantsThat) {
  EXPECT_FALSE(checked("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").keep);
  EXPECT_FALSE(checked("GET / HTTP/1.0\r\nHost: h\r\n\r\n").keep);
  EXPECT_TRUE(checked("GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n").keep);
}

TEST(HttpHead, RefusesWhatTwoReadersCouldReadDifferently) {
  const std::string line = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(checked(line + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n").refused, 400);
  EXPECT_EQ(checked(line + "Transfer-Encoding: chunked\r\n\r\n").refused, 411);
  EXPECT_EQ(checked(line + "Content-Encoding: gzip\r\n\r\n").refused, 415);
  EXPECT_EQ(checked(line + "Content-Length: -1\r\n\r\n").refused, 400);
  EXPECT_EQ(checked(line + "Content-Length: 1e3\r\n\r\n").refused, 400);
  EXPECT_EQ(checked(line + "Content-Length: 99999999999999999999999\r\n\r\n").refused, 413);
  EXPECT_EQ(checked(line + "Content-Length: 1000000000\r\n\r\n").refused, 413);
  EXPECT_EQ(checked(line + "Content-Length : 1\r\n\r\n").refused, 400);
  EXPECT_EQ(checked(line + " folded: 1\r\n\r\n").refused, 400);
  EXPECT_EQ(checked(line + "A: b\nContent-Length: 5\r\n\r\n").refused, 400);
  EXPECT_EQ(checked("GET / HTTP/1.1\r\n\r\n").refused, 400);
  EXPECT_EQ(checked("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").refused, 400);
}

TEST(HttpHead, RefusesStrangeRequestLines) {
  const std::string host = "\r\nHost: h\r\n\r\n";
  EXPECT_EQ(checked("GET http://other/ HTTP/1.1" + host).refused, 400);
  EXPECT_EQ(checked("GET / HTTP/2.0" + host).refused, 505);
  EXPECT_EQ(checked("DELETE / HTTP/1.1" + host).refused, 405);
  EXPECT_EQ(checked("OPTIONS / HTTP/1.1" + host).refused, 405);
  EXPECT_EQ(checked("GET /a b HTTP/1.1" + host).refused, 400);
  EXPECT_EQ(checked("GET" + host).refused, 400);
  EXPECT_EQ(checked("GET /" + std::string(5000, 'a') + " HTTP/1.1" + host).refused, 414);
}

}  // namespace
}  // namespace grm::serve
