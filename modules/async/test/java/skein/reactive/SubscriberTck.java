// SPDX-License-Identifier: Apache-2.0
package skein.reactive;

import java.util.concurrent.Flow.Subscriber;
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification;

/** The Reactive Streams rules of subscribers, on channels; run by skein.async.reactive-test. */
public class SubscriberTck extends FlowSubscriberBlackboxVerification<Object> {
    public SubscriberTck() {
        super(PublisherTck.environment());
    }

    @Override
    @SuppressWarnings("unchecked")
    public Subscriber<Object> createFlowSubscriber() {
        return (Subscriber<Object>) PublisherTck.made("draining-subscriber").invoke();
    }

    @Override
    public Object createElement(int element) {
        return element;
    }
}
