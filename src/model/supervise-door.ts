/** The port of the supervise door in a sandbox. */
export const SUPERVISE_PORT = 9100;

/** Where an agent finds the MCP server behind it. */
export const SUPERVISE_URL = `http://127.0.0.1:${SUPERVISE_PORT}/mcp`;
