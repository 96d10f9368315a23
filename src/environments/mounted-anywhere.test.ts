import { expect, it } from "vitest";
import { sourceOf } from "./mounted-anywhere.ts";

const MOUNTS = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 254:16 /users /home rw - ext4 /dev/vdb rw
31 30 254:16 /users/a\\040b /home/bound rw - ext4 /dev/vdb rw
32 22 0:44 / /tmp rw - tmpfs tmpfs rw
33 22 254:0 /var/tmp /tmp rw - ext4 /dev/vda rw
`;

it.each([
  ["/root/cache", "254:0", "/root/cache"],
  ["/home/me/cache", "254:16", "/users/me/cache"],
  ["/home/bound/cache", "254:16", "/users/a b/cache"],
  ["/homely/cache", "254:0", "/homely/cache"],
  ["/home", "254:16", "/users"],
  ["/tmp/cache", "254:0", "/var/tmp/cache"],
])("%s is known to its file system by the mount that holds it", (path, device, source) => {
  expect(sourceOf(path, MOUNTS)).toEqual({ device, path: source });
});
