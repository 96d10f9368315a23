#include "base/launcher.h"
#include "builtins/builtin.h"
#include "builtins/records.h"
#include "layers/layer_stream.h"

static void tell(int error, const char *message) { give_up(error, "%s", message); }

/* The writable layer as a stream that `layer-unpack` takes. */
uint64_t builtin_layer_out(char *const *arguments) {
  (void)arguments;
  launcher_failed = tell;
  return layer_pack(argument_root("upper")->fd, false, record_bytes);
}
