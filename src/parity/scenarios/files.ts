import assert from "node:assert/strict";
import { lstat, readFile, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { scenarios } from "../scenario.ts";

export const FILE_SCENARIOS = scenarios("files", {
  "a workspace starts with the project, which belongs to its user": async (at) => {
    const id = await at.create();
    assert.equal(
      await at.out(id, "cat README.md src/main.txt; stat -c '%U %a' README.md src ."),
      "# A project\none\ntwo\nthree\nagent 644\nagent 755\nagent 755\n",
    );
    assert.equal(await at.out(id, "echo more >> README.md; tail -n 1 README.md"), "more\n");
    assert.equal(await readFile(join(at.project, "README.md"), "utf8"), "# A project\n");
  },
  "a file that is written is read again, by a call and by a command": async (at) => {
    const id = await at.shared();
    const written = await at.client.writeWorkspaceFile(id, "new/deep/file.txt", { text: "héllo\n", mode: 0o750 });
    assert.deepEqual([written.path, written.bytes_written], ["/workspace/new/deep/file.txt", 7]);
    const read = await at.client.readWorkspaceFile(id, "/workspace/new/deep/file.txt");
    assert.deepEqual([read.content, read.size_bytes, read.truncated], ["héllo\n", 7, false]);
    assert.equal(await at.out(id, "stat -c '%a %U' new/deep/file.txt; cat new/deep/file.txt"), "750 agent\nhéllo\n");
  },
  "a read is cut at its cap, and says so": async (at) => {
    const id = await at.shared();
    await at.out(id, "seq 1 100000 > long.txt");
    const read = await at.client.readWorkspaceFile(id, "long.txt", { max_bytes: 10 });
    assert.deepEqual([read.content, read.truncated], ["1\n2\n3\n4\n5\n", true]);
  },
  "a list has files, folders and links": async (at) => {
    const id = await at.shared();
    await at.out(id, "mkdir -p listed/sub; echo x > listed/sub/file; ln -s sub/file listed/link");
    const { entries } = await at.client.listWorkspaceFiles(id, { path: "listed", recursive: true });
    assert.deepEqual(
      entries.map(({ path, artifact_type, size_bytes, link_target }) => [path, artifact_type, size_bytes, link_target]),
      [
        ["/workspace/listed/link", "symlink", 8, "sub/file"],
        ["/workspace/listed/sub", "directory", 0, null],
        ["/workspace/listed/sub/file", "file", 2, null],
      ],
    );
  },
  "what is not there, or something else, is refused with its code": async (at) => {
    const id = await at.shared();
    assert.equal(await at.refusal(at.client.readWorkspaceFile(id, "no/such")), "FILE_NOT_FOUND");
    assert.equal(await at.refusal(at.client.readWorkspaceFile(id, "src")), "FILE_WRONG_TYPE");
    assert.equal(await at.refusal(at.client.listWorkspaceFiles(id, { path: "no/such" })), "FILE_NOT_FOUND");
  },
  "no path leads out of the workspace, through a link neither": async (at) => {
    const id = await at.shared();
    await at.out(id, "ln -sfn /etc outside; ln -sfn ../../etc/passwd up");
    for (const path of ["../etc/passwd", "/etc/passwd", "outside/passwd", "up"]) {
      const code = await at.refusal(at.client.readWorkspaceFile(id, path));
      assert.equal(code, "PATH_OUTSIDE_WORKSPACE", path);
    }
    assert.equal(
      await at.refusal(at.client.writeWorkspaceFile(id, "outside/x", { text: "x" })),
      "PATH_OUTSIDE_WORKSPACE",
    );
  },
  "a file that its owner has closed is FILE_FAILED": async (at) => {
    const id = await at.shared();
    await at.out(id, "echo x > closed; chmod 0 closed");
    assert.equal(await at.refusal(at.client.readWorkspaceFile(id, "closed")), "FILE_FAILED");
    await at.out(id, "rm -f closed");
  },
  "an export is the file, or the folder with its links and modes": async (at) => {
    const id = await at.shared();
    await at.out(
      id,
      "mkdir -p out/sub; head -c 3000000 /dev/zero | tr '\\0' z > out/big; echo x > out/sub/x; chmod 755 out/sub/x; ln -s sub/x out/link",
    );
    const folder = join(await at.folder(), "out");
    const exported = await at.client.exportWorkspace(id, "out", { output_path: folder });
    assert.deepEqual([exported.artifact_type, exported.output_path], ["directory", folder]);
    assert.deepEqual((await readdir(folder)).sort(), ["big", "link", "sub"]);
    assert.equal((await lstat(join(folder, "big"))).size, 3_000_000);
    assert.equal((await lstat(join(folder, "sub/x"))).mode & 0o777, 0o755);
    assert.equal(await readlink(join(folder, "link")), "sub/x");
    assert.equal(await at.refusal(at.client.exportWorkspace(id, "out", { output_path: folder })), "OUTPUT_EXISTS");
    await at.out(id, "ln -s /etc/hostname out/leads-out");
    const other = join(await at.folder(), "out");
    assert.equal(
      await at.refusal(at.client.exportWorkspace(id, "out", { output_path: other })),
      "PATH_OUTSIDE_WORKSPACE",
    );
    const skipping = await at.client.exportWorkspace(id, "out", { output_path: other, links: "skip" });
    assert.deepEqual([skipping.skipped_links, (await readdir(other)).sort()], [1, ["big", "link", "sub"]]);
  },
  "a folder of the host is pushed in, all of it": async (at) => {
    const id = await at.shared();
    const folder = await at.folder({ "a.txt": "a\n", "sub/b.txt": "b\n" });
    await at.client.pushWorkspaceSync(id, folder, { dest: "pushed" });
    assert.equal(await at.out(id, "cat pushed/a.txt pushed/sub/b.txt; stat -c %U pushed/sub/b.txt"), "a\nb\nagent\n");
  },
  "bytes that are no text are the same on both sides": async (at) => {
    const id = await at.shared();
    const ws = await at.client.open(id);
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256);
    await ws.files.write("bytes/all.bin", bytes);
    assert.equal(
      await at.out(id, "od -An -tu1 -N4 bytes/all.bin | tr -s ' '; wc -c < bytes/all.bin"),
      " 0 7 14 21\n70000\n",
    );
    assert.deepEqual(await ws.files.readBytes("bytes/all.bin"), bytes);
    const read = await at.client.readWorkspaceFile(id, "bytes/all.bin", { offset: 30, max_bytes: 20 });
    assert.deepEqual(
      [read.encoding, Buffer.from(read.content, "base64"), read.next_offset],
      ["base64", Buffer.from(bytes.slice(30, 50)), 50],
    );
    assert.equal(
      await at.refusal(at.client.readWorkspaceFile(id, "bytes/all.bin", { encoding: "utf8" })),
      "FILE_WRONG_TYPE",
    );
  },
  "a copy goes into a folder that is there, else it gets the name that was given": async (at) => {
    const id = await at.shared();
    const folder = await at.folder({ "one.txt": "one\n", "sub/two.txt": "two\n" });
    const copy = async (source: string, dest: string) =>
      (await at.client.pushWorkspaceSync(id, join(folder, source), { dest, placement: "copy" })).dest;
    await at.out(id, "mkdir -p copies/there");
    assert.equal(await copy("one.txt", "copies/there"), "/workspace/copies/there/one.txt");
    assert.equal(await copy("one.txt", "copies/named.txt"), "/workspace/copies/named.txt");
    assert.equal(await copy("sub", "copies/there/"), "/workspace/copies/there/sub");
    assert.equal(await copy("sub", "copies/made"), "/workspace/copies/made");
    assert.equal(
      await at.out(id, "cd copies && cat there/one.txt named.txt there/sub/two.txt made/two.txt"),
      "one\none\ntwo\ntwo\n",
    );
    assert.equal(await at.refusal(copy("one.txt", "copies/missing/")), "FILE_NOT_FOUND");
    assert.equal(await at.refusal(copy("one.txt", "copies/missing/x")), "FILE_NOT_FOUND");
    assert.equal(await at.refusal(copy("sub", "copies/named.txt")), "FILE_WRONG_TYPE");
    const output = join(folder, "one.txt");
    await at.out(id, "echo new > copies/named.txt");
    const out = (overwrite: boolean) =>
      at.client.exportWorkspace(id, "copies/named.txt", { output_path: output, overwrite });
    assert.equal(await at.refusal(out(false)), "OUTPUT_EXISTS");
    await out(true);
    assert.equal(await readFile(output, "utf8"), "new\n");
  },
  "a large file is the same on both sides": async (at) => {
    const id = await at.shared();
    const sum = (
      await at.out(id, "head -c 20000000 /dev/urandom > large; sha256sum < large | cut -c1-64", {
        timeout_seconds: 120,
      })
    ).trim();
    const output = join(await at.folder(), "large");
    await at.client.exportWorkspace(id, "large", { output_path: output });
    const { createHash } = await import("node:crypto");
    assert.equal(
      createHash("sha256")
        .update(await readFile(output))
        .digest("hex"),
      sum,
    );
  },
});
