// An execution unit of a core: a queue whose requests one host thread runs in order.
//
// Thread safe. The thread starts with the first request. The unit's id is the upper 16 bits of the
// sequence ids it gives out.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "emulator/abi/call.h"
#include "nrt/nrt_async_abi.h"

namespace neuron::emulator::abi {

class ExecutionUnit {
 public:
  // Requests that wait or run; no figure is public. Then NRT_QUEUE_FULL.
  static constexpr size_t kDepth = 64;

  explicit ExecutionUnit(nrta_xu_id_t id) : id_(id) {}
  // What runs ends; what waits is completed with NRT_CLOSED.
  ~ExecutionUnit();

  using Work = std::function<Outcome()>;
  // `call` names the request in messages: static storage.
  Outcome Schedule(const char* call, Work work, NRT_STATUS* ret, nrta_seq_t* seq);

  nrta_seq_t last_completed();
  bool Knows(nrta_seq_t seq);  // of a request that was scheduled here
  // The eventfd for one request, or for all of them. -1: none.
  Outcome WatchRequest(nrta_seq_t seq, int fd);
  void WatchAll(int fd);

 private:
  struct Request {
    const char* call;
    Work work;
    NRT_STATUS* ret;
  };
  void Run();
  nrta_seq_t IdOf(uint64_t number) const {
    return static_cast<uint64_t>(id_) << NRTA_SEQ_NUM_BITS | number;
  }

  const nrta_xu_id_t id_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;  // the first one runs
  uint64_t scheduled_ = 0, completed_ = 0;
  std::multimap<uint64_t, int> watched_;  // eventfds by request
  int watch_all_ = -1;
  bool lost_ = false;  // after a fatal error
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace neuron::emulator::abi
