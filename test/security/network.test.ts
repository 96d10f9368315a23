import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { describeWalls } from "../helpers/sandbox.ts";

describeWalls("G-03 network", "g03", (box) => {
  it("G-03 there is no interface but loopback and no route", async () => {
    const devices = (await box.sh("cat /proc/net/dev")).stdout
      .split("\n")
      .slice(2)
      .map((line) => line.split(":")[0]?.trim())
      .filter(Boolean);
    expect(devices).toEqual(["lo"]);
    expect((await box.sh("tail -n +2 /proc/net/route")).stdout).toBe("");
  });

  it("G-03 a listener of the host is not reachable over loopback", async () => {
    const server = createServer((socket) => socket.end("reached\n"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    try {
      const reach = await box.at.sdk.execWorkspace(box.id, {
        command: ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`],
      });
      expect(reach.exit_code).not.toBe(0);
      expect(reach.stdout).not.toContain("reached");
    } finally {
      server.close();
    }
  });

  it("G-03 loopback in the sandbox works, and belongs to it", async () => {
    const { stdout } = await box.perl(`
      use IO::Socket::INET;
      my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) or die $!;
      my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport) or die $!;
      my $a = $s->accept; print $a "own\\n"; close $a; print <$c>;`);
    expect(stdout).toBe("own\n");
  });

  // 192.0.2.1 is set aside for documentation; the first test has shown that there is no interface that could carry a packet.
  it("G-03 an address outside is refused at once: there is no route; a name is not resolved", async () => {
    const raw = await box.at.sdk.execWorkspace(box.id, {
      command: ["bash", "-c", "exec 3<>/dev/tcp/192.0.2.1/80"],
      timeout_seconds: 10,
    });
    expect(raw.exit_code).not.toBe(0);
    expect(raw.timed_out).toBe(false);
    expect(raw.stderr).toMatch(/unreachable/i);
    expect(raw.hint).toMatch(/^This workspace has no network; /);
    const name = await box.sh("getent hosts example.com", { timeout_seconds: 10 });
    expect(name.exit_code).not.toBe(0);
    expect(name.timed_out).toBe(false);
  });

  it("G-03 a published port is on the one loopback address, and on no other address of the host", async () => {
    const { sdk } = box.at;
    const id = await box.create({ network_policy: "published-ports" });
    const { published_ports: ports } = await sdk.startService(id, "any", {
      command: "exec sleep 60",
      published_ports: [{ guest_port: 8080 }],
    });
    const reaches = async (host: string) => {
      const socket = connect(ports[0]?.host_port ?? 0, host);
      try {
        await once(socket, "connect");
        return true;
      } catch (error) {
        // Nobody listens in the sandbox, so what was reached may be over before it is told.
        return (error as NodeJS.ErrnoException).code === "ECONNRESET";
      } finally {
        socket.destroy();
      }
    };
    expect(await reaches("127.0.0.1")).toBe(true);
    for (const host of ["127.0.0.2", "::1"]) expect(await reaches(host), host).toBe(false);
    await sdk.deleteWorkspace(id);
  });

  it("G-03 raw and packet sockets cannot be made", async () => {
    const packet = await box.perl(`socket(S, 17, 3, 768) and print "made"; print $!;`);
    expect(packet.stdout).not.toContain("made");
    const raw = await box.perl(`socket(S, 2, 3, 1) and print "made"; print $!;`);
    expect(raw.stdout).not.toContain("made");
    const vsock = await box.perl(`socket(S, 40, 1, 0) and print "made"; print $!;`);
    expect(vsock.stdout).toMatch(/not supported/i);
  });
});
