// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.List;

/**
 * The classes and private fields that skein.inspect reads of a heap file, which knows them by name: an absent field would
 * read as 0. {@code FRAME_PORT} is a field of the class {@code FRAME}. A test looks for each.
 */
public final class HeapNames {
    private HeapNames() {}

    /** The values of {@link #WAITER_WAITS}. */
    public static final long TO_TAKE = Waiter.TO_TAKE;

    public static final long TO_PUT = Waiter.TO_PUT;

    public static final String CHANNEL = "skein.rt.Channel";
    public static final String CHANNEL_TAKERS = "takers";
    public static final String CHANNEL_PUTTERS = "putters";
    public static final String CHANNEL_BUFFER = "buffer";
    public static final String CHANNEL_ROLE = "role";
    public static final String CHANNEL_END = "end";

    public static final String SOURCE_CHANNEL = "skein.rt.SourceChannel";
    public static final String SOURCE_CHANNEL_PENDING = "PENDING";

    public static final String BUFFER = "skein.rt.Buffers$Fixed";
    public static final String BUFFER_CAPACITY = "capacity";
    public static final String BUFFER_COUNT = "count";

    public static final String RESULT = "skein.rt.Result";

    public static final String TIMEOUT = "skein.rt.schedule.Timeout";

    public static final String WAITER = "skein.rt.Waiter";
    public static final String WAITER_NEXT = "next";
    public static final String WAITER_PREV = "prev";
    public static final String WAITER_WAITS = "waits";

    public static final String ARM = "skein.rt.Alts$Choice$Arm";
    public static final String ARM_CHOICE = "choice";

    public static final String CHOICE = "skein.rt.Alts$Choice";
    public static final String CHOICE_OWNER = "owner";

    public static final String WAIT = "skein.rt.block.Frame$Wait";
    public static final String WAIT_OWNER = "owner";

    public static final String FOREIGN_WAIT = "skein.rt.block.Frame$ForeignWait";
    public static final String FOREIGN_WAIT_OWNER = "owner";

    public static final String THREAD_WAITER = "skein.rt.block.ThreadWaiter";
    public static final String THREAD_WAITER_THREAD = "thread";
    public static final String THREAD_WAITER_DONE = "done";

    public static final String CALLBACK = "skein.rt.block.Callback";
    public static final String CALLBACK_FUNCTION = "function";

    public static final String BLOCK = "skein.rt.Block";
    public static final String BLOCK_KEPT = "kept";
    public static final String BLOCK_CANCELLABLE = "cancellable";

    public static final String FRAME = "skein.rt.block.Frame";
    public static final String FRAME_BODY = "body";
    public static final String FRAME_STATE = "state";
    public static final String FRAME_PORT = "port";
    public static final String FRAME_RUNNER = "runner";
    public static final String FRAME_MORE = "more";

    public static final String RUNNER = "skein.rt.Runner";
    public static final String RUNNER_BLOCK = "block";
    public static final String RUNNER_LENDER = "lender";
    public static final String RUNNER_OWN = "own";

    public static final String WORKER_RUNNER = "skein.rt.schedule.WorkerRunner";
    public static final String WORKER_RUNNER_THREAD = "thread";

    public static final String DETACHED = "skein.rt.schedule.Detached";
    public static final String DETACHED_THREAD = "thread";

    public static final String REGION = "skein.rt.Region";
    public static final String REGION_OWNER = "owner";
    public static final String REGION_CANCELLABLE = "cancellable";
    public static final String REGION_NUMBER = "number";
    public static final String REGION_LEFT = "left";
    public static final String REGION_REQUESTED = "requested";

    public static final String CANCELLABLE = "skein.rt.Cancellable";
    public static final String CANCELLABLE_BLOCK = "block";
    public static final String CANCELLABLE_THREAD = "thread";

    public static final String ASYNC_TRACE = "skein.rt.block.AsyncTrace";
    public static final String ASYNC_TRACE_SPAWNERS = "SPAWNERS";

    public static final String FAILURES = "skein.rt.block.Failures";
    public static final String FAILURES_FAILED = "FAILED";
    public static final String FAILURES_GIVEN_NIL = "GIVEN_NIL";

    /** The fields of {@link #FRAME} for locals that live across a park; more are in {@link #FRAME_MORE}. */
    public static final List<String> FRAME_LOCALS = List.of("o0", "o1", "o2", "o3", "o4", "o5");
}
