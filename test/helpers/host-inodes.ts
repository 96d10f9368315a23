import { chmodSync, chownSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:net";
import { join } from "node:path";
import { runProcess } from "./installation.ts";

const LONG_AGO = new Date("2001-01-01T00:00:00Z");

/**
 * A folder that shows in the environment `host`, with all that an inode is good for besides its content: a socket that listens, a pipe, and a file to lock and to
 * watch, each open to everybody. Disposing removes it.
 */
export class HostInodes implements AsyncDisposable {
  readonly folder: string;
  /** Who connected. */
  connections = 0;
  readonly #server: Server;

  private constructor(folder: string) {
    this.folder = folder;
    this.#server = createServer((socket) => {
      this.connections++;
      socket.on("error", () => undefined).end("reached\n");
    });
  }

  /** Below `parent`, `/opt` or `/usr/local`; the file belongs to that user. */
  static async make(parent: string, owner = 0): Promise<HostInodes> {
    const inodes = new HostInodes(mkdtempSync(join(parent, "cloche-test-")));
    try {
      chmodSync(inodes.folder, 0o755);
      await new Promise<void>((done, fail) => inodes.#server.once("error", fail).listen(inodes.path("socket"), done));
      chmodSync(inodes.path("socket"), 0o777);
      await runProcess("mkfifo", ["-m", "666", inodes.path("pipe")]);
      writeFileSync(inodes.path("file"), "public\n");
      chmodSync(inodes.path("file"), 0o666);
      chownSync(inodes.path("file"), owner, owner);
      utimesSync(inodes.path("file"), LONG_AGO, LONG_AGO);
    } catch (error) {
      await inodes[Symbol.asyncDispose]();
      throw error;
    }
    return inodes;
  }

  path(name: "socket" | "pipe" | "file"): string {
    return join(this.folder, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((done) => this.#server.close(done));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * A Perl program for both sides of a wall. `hold FILE` takes every kind of lock there is and leaves a process behind that keeps them; it prints that one's pid and what it got.
 * `try FILE` prints what it can get at once. With `write` the locks are exclusive where the file has to be writable for that.
 */
export const LOCKS = String.raw`
use Fcntl qw(:DEFAULT :flock);
my ($what, $path, $write) = @ARGV;
sub take { my $lock = pack("s s x4 q q i x4", $_[2], 0, 0, 0, 0); fcntl($_[0], $_[1], $lock) }
my $kind = $write ? F_WRLCK : F_RDLCK;
my @files = map { sysopen(my $file, $path, $write ? O_RDWR : O_RDONLY) or die "open: $!"; $file } 1 .. 2;
sub get {
  my @got = flock($files[0], LOCK_EX | LOCK_NB) ? "flock" : ();
  push @got, "posix" if take($files[0], F_SETLK, $kind);
  take($files[0], F_SETLK, F_UNLCK) if $write; # or it would be in the way of the next
  push @got, "ofd" if take($files[1], 37, $kind);
  "@got\n";
}
if ($what eq "try") { print get(); exit }
pipe(my $in, my $out);
if (fork) { close $out; print <$in>; exit }
close $in;
open(STDIN, "</dev/null"); open(STDOUT, ">/dev/null"); open(STDERR, ">/dev/null");
my $got = $what eq "lease" ? (fcntl($files[0], 1024, F_RDLCK) ? "lease\n" : "$!\n") : get();
syswrite $out, "$$ $got";
close $out;
sleep 120;`;
