#include "init/loopback.h"

#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void bring_up(int fd) {
  struct ifreq request = {.ifr_name = "lo"};
  if (ioctl(fd, SIOCGIFFLAGS, &request) != 0 || request.ifr_flags & IFF_UP) return;
  request.ifr_flags |= IFF_UP;
  (void)ioctl(fd, SIOCSIFFLAGS, &request);
}

/* A resolver that is asked for addresses which fit the interfaces (AI_ADDRCONFIG) does not count 127.0.0.1. With a second address it finds IPv4 here, and so the hosts
 * that the gate answers for. */
static void add_address(int fd) {
  struct ifreq alias = {.ifr_name = "lo:1"};
  if (ioctl(fd, SIOCGIFADDR, &alias) == 0) return;
  struct sockaddr_in second = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1)};
  memcpy(&alias.ifr_addr, &second, sizeof second);
  (void)ioctl(fd, SIOCSIFADDR, &alias);
}

void loopback_up(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  bring_up(fd);
  add_address(fd);
  close(fd);
}
