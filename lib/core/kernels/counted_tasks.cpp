#include "core/kernels/counted_tasks.hpp"

#include "base/parallel.hpp"

namespace attn {
inline namespace v1 {

void CountedTasks::run(Index tasks, const std::function<void(Index task, int worker)>& work) {
  parallel_for(tasks, run_.threads, [&](Index task, int worker) {
    work(task, worker);
    const Index done = ++done_;
    if (run_.progress) run_.progress->update("computing", done, total_);
  });
}

}  // namespace v1
}  // namespace attn
