#include "support/world.h"

#include <exception>
#include <future>
#include <thread>
#include <vector>

namespace grm::test {

void as_world(int world, const std::function<void(const std::shared_ptr<dist::Group>&)>& body,
              double timeout) {
  if (world == 1) return body(dist::alone());
  std::promise<int> port;
  std::shared_future<int> listens = port.get_future().share();
  std::vector<std::thread> members;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(world));
  for (int rank = 0; rank < world; ++rank) {
    members.emplace_back([&, rank] {
      try {
        dist::Launch launch;
        launch.rank = rank;
        launch.world = world;
        launch.address = "127.0.0.1";
        dist::JoinOptions options;
        options.timeout = timeout;
        if (rank == 0) options.on_listen = [&](int at) { port.set_value(at); };
        if (rank > 0) launch.port = listens.get();
        const std::shared_ptr<dist::Group> group = dist::join(launch, options);
        try {
          body(group);
        } catch (const std::exception& error) {
          group->ends(error.what());
          throw;
        }
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& member : members) member.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace grm::test
