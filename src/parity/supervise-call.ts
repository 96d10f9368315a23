/** A call of the supervise door, as a command of a sandbox, without a tool that an environment may lack. Prints the answer with its head. */
export function rpc(method: string, params: object): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }).replaceAll("'", "\\u0027");
  const head = `POST /mcp HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\nContent-Length: ${Buffer.byteLength(body)}\\r\\nConnection: close\\r\\n\\r\\n`;
  return `bash -c 'exec 3<>/dev/tcp/127.0.0.1/9100; printf "${head}" >&3; printf %s "$0" >&3; cat <&3' '${body}'; echo`;
}

export const callTool = (name: string, given: object): string => rpc("tools/call", { name, arguments: given });
