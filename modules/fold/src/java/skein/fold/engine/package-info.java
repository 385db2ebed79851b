// SPDX-License-Identifier: Apache-2.0
/**
 * How a fold runs; {@code doc/folds-inside.md} tells its life, and defines the words.
 *
 * <p>A {@link skein.fold.engine.Start} folds on the caller's thread, since most folds are over before help could come. If the
 * rest is worth help, a {@link skein.fold.engine.Run} shares it with helpers: by position ({@link skein.fold.engine.SpanRun}) or
 * block by block as it is read ({@link skein.fold.engine.FeedRun}).
 *
 * <p>A helper splits the part that has most left when it comes, as in lazy binary splitting [1]. There the owner splits when its
 * queue is empty; here it does nothing but take blocks, and a part that nobody wants is never split.
 *
 * <p>[1] Tzannes, Caragea, Vishkin, Barua: Lazy Scheduling: A Runtime Adaptive Scheduler for Declarative Parallelism. ACM
 * TOPLAS 36(3), 2014.
 */
package skein.fold.engine;
