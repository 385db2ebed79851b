// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

/**
 * Why a run has failed: {@code kind} is a keyword's name; {@code cause} an exception, a task, an {@link Outsider}, what a check
 * said, or null.
 */
public record Verdict(String kind, Object cause) {}
