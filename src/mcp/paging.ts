import { z } from "zod";

/** How every tool with more to tell than one answer holds is read on. */
export const cursor = z.number().int().min(0).optional();
export const nextCursor = z.number().int().nullable();
