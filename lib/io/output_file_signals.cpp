#include "io/output_file_signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "attn/base/error.hpp"
#include "attn/base/text.hpp"
#include "attn/io/output_file.hpp"
#include "io/descriptor.hpp"

namespace attn {
inline namespace v1 {
namespace {

/// One registered name. A signal handler may look at any moment, so a name is complete before its slot says so.
struct Slot {
  enum State : int { free, taken, live };
  std::atomic<int> state{free};
  char path[PATH_MAX] = {};
};

/// What people, terminals and schedulers send.
constexpr std::array<int, 8> kEndingSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2};
/// How GLib and abort() end a process that finds no memory.
constexpr std::array<int, 2> kAbortingSignals{SIGABRT, SIGTRAP};
/// How a library ends a process that does not look whether it found memory.
constexpr std::array<int, 4> kCrashingSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// A signal handler has no other way to its data than a variable of the whole program.
std::array<Slot, 1024>& slots() {
  static std::array<Slot, 1024> all;
  return all;
}

/// Set by whoever removes the temporaries: from then on no other thread may make one.
std::atomic<bool>& ending() {
  static std::atomic<bool> set{false};
  return set;
}

/// Waits for another thread that is just creating the file of this slot; not for ever, since it may be stopped.
/// (The thread that a signal handler interrupts is never between the two: it holds the signals meanwhile.)
void await_creation(const Slot& slot) {
  constexpr timespec kMoment{0, 1'000'000};
  constexpr int kMoments = 200;
  for (int i = 0; i < kMoments && slot.state.load() == Slot::taken; ++i) ::nanosleep(&kMoment, nullptr);
}

/// Where a thread stays that would make a file while the process is about to end.
void stay_if_ending(Slot& slot) {
  if (!ending().load()) return;
  slot.state.store(Slot::free);
  while (true) ::pause();
}

int claim_slot() {
  for (std::size_t i = 0; i < slots().size(); ++i) {
    int expected = Slot::free;
    if (slots()[i].state.compare_exchange_strong(expected, Slot::taken)) return static_cast<int>(i);
  }
  return -1;
}

/// Keeps ending signals out of the time between a file's creation and its registration.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kEndingSignals) sigaddset(&held, signal);
    for (const int signal : kAbortingSignals) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

extern "C" void remove_temporaries_and_end(int signal) {
  remove_temporaries();
  // The disposition is the default again (SA_RESETHAND) and the signal is not held (SA_NODEFER): this ends the process.
  ::raise(signal);
}

/// Of signals that may come again while the first is being answered, such as a key pressed twice: the later ones, in whatever
/// thread they arrive, must not end the process before the temporaries are gone.
extern "C" void remove_temporaries_and_end_once(int signal) {
  static std::atomic<bool> begun{false};
  if (begun.exchange(true)) return;
  remove_temporaries();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// A library that finds no memory may call itself until the stack is full: a handler then needs a stack of its own.
void give_handlers_a_stack() {
  thread_local std::array<std::byte, 16 << 10> bytes;
  stack_t stack{};
  if (::sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
  stack = {};
  stack.ss_sp = bytes.data();
  stack.ss_size = bytes.size();
  ::sigaltstack(&stack, nullptr);
}

void clean_up_at(int signal, void (*handler)(int), unsigned flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(flags | SA_NODEFER | SA_ONSTACK);
  ::sigaction(signal, &action, nullptr);
}

/// A fault while the temporaries are being removed ends the process at once.
void clean_up_at_fault(int signal) { clean_up_at(signal, remove_temporaries_and_end, SA_RESETHAND); }

}  // namespace

void remove_temporaries() noexcept {
  ending().store(true);
  for (Slot& slot : slots()) {
    if (slot.state.load() == Slot::taken) await_creation(slot);
    if (slot.state.load() == Slot::live) ::unlink(slot.path);
  }
}

TemporaryFile::TemporaryFile(const std::string& folder, const std::string& target, int& descriptor) {
  const std::string pattern = folder + (folder.ends_with('/') ? "" : "/") + ".attn-XXXXXX";
  if (pattern.size() >= PATH_MAX) fail_output(target, ENAMETOOLONG);
  give_handlers_a_stack();  // in the thread that is going to fill the file
  int error = 0;
  {
    const SignalsHeld held;
    slot_ = claim_slot();
    if (slot_ < 0) fail(ErrorKind::output, "cannot write '", printable_end(target), "': too many outputs at once");
    // Either the thread that ends the process sees this slot taken and waits, or it is seen here to be ending.
    Slot& slot = slots()[static_cast<std::size_t>(slot_)];
    stay_if_ending(slot);
    do {
      std::memcpy(slot.path, pattern.c_str(), pattern.size() + 1);
      descriptor = ::mkostemp(slot.path, O_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    error = errno;
    slot.state.store(descriptor < 0 ? Slot::free : Slot::live);
  }
  if (descriptor >= 0) return;
  slot_ = -1;
  fail_output(target, error);
}

TemporaryFile::~TemporaryFile() {
  if (slot_ < 0) return;
  Slot& slot = slots()[static_cast<std::size_t>(slot_)];
  ::unlink(slot.path);
  slot.state.store(Slot::free);
}

int TemporaryFile::rename_to(const std::string& target, bool keep_existing) {
  Slot& slot = slots()[static_cast<std::size_t>(slot_)];
  int result = -1;
  do {
    result = keep_existing ? ::renameat2(AT_FDCWD, slot.path, AT_FDCWD, target.c_str(), RENAME_NOREPLACE)
                           : ::rename(slot.path, target.c_str());
    // File systems without the flag: a link fails as well when the name is taken.
    if (result != 0 && keep_existing && errno == EINVAL && ::link(slot.path, target.c_str()) == 0) result = ::unlink(slot.path);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return errno;
  slot.state.store(Slot::free);
  slot_ = -1;
  return 0;
}

void install_signal_cleanup() {
  slots();  // made before a handler can ask for it
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  ::sigaction(SIGXFSZ, &ignore, nullptr);
  for (const int signal : kEndingSignals) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, background jobs: whoever started us decides
    clean_up_at(signal, remove_temporaries_and_end_once, SA_RESTART);
  }
  for (const int signal : kAbortingSignals) clean_up_at_fault(signal);
  for (const int signal : kCrashingSignals) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) clean_up_at_fault(signal);  // else a sanitizer tells what happened
  }
}

}  // namespace v1
}  // namespace attn
