#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace attn {

/// Runs `work` in a process of its own and returns its wait status; the value `work` returns is the exit code, 99 for an
/// exception that leaves it.
template <typename Work>
int in_child(Work&& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = work();
    } catch (const std::exception&) {
    }
    ::_exit(code);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// The exit code of `work` run in a process of its own; -1 if it was ended by a signal.
template <typename Work>
int exit_code_of(Work&& work) {
  const int status = in_child(work);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Gives up the rights of root for the rest of a child process; without them already, nothing is to be given up.
inline void become_nobody() {
  if (::geteuid() != 0) return;
  if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(98);
}

}  // namespace attn
