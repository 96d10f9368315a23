import type { StartServiceOptions } from "../sdk/options.ts";

/** Answers every request with a line; Perl is in every environment. */
const WEB = `use IO::Socket::INET; $| = 1; $SIG{PIPE} = 'IGNORE';
my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 8080, Listen => 5, ReuseAddr => 1) or die "listen: $!";
print "listening\\n";
while (my $c = $s->accept) { while (defined(my $h = <$c>)) { last if $h =~ /^\\r?\\n$/ }
  my $b = "served\\n"; print $c "HTTP/1.1 200 OK\\r\\nContent-Length: " . length($b) . "\\r\\nConnection: close\\r\\n\\r\\n$b"; close $c }`;
export const web: Pick<StartServiceOptions, "command" | "readiness"> = {
  command: ["perl", "-e", WEB],
  readiness: { type: "http", url: "http://127.0.0.1:8080/" },
};

export const getPage = async (port: number): Promise<string> =>
  await (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } })).text();
